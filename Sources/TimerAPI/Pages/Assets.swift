import CAssets

/// The files that are compiled in.
enum Assets {
    /// `openapi.yaml`.
    static var openAPI: [UInt8] { unsafe copy(cassets_openapi(), cassets_openapi_count()) }
    /// The content of `openapi.yaml` as JSON.
    static var openAPIJSON: [UInt8] { unsafe copy(cassets_openapi_json(), cassets_openapi_json_count()) }
    /// The reference's markup.
    static var referencePage: [UInt8] { unsafe copy(cassets_reference_page(), cassets_reference_page_count()) }
    /// The reference's style.
    static var referenceStyle: [UInt8] { unsafe copy(cassets_reference_style(), cassets_reference_style_count()) }
    /// The reference's script.
    static var referenceScript: [UInt8] { unsafe copy(cassets_reference_script(), cassets_reference_script_count()) }
    /// The dashboard's markup.
    static var dashboardPage: [UInt8] { unsafe copy(cassets_dashboard_page(), cassets_dashboard_page_count()) }
    /// The dashboard's style.
    static var dashboardStyle: [UInt8] { unsafe copy(cassets_dashboard_style(), cassets_dashboard_style_count()) }
    /// The dashboard's scripts, one after the other.
    static var dashboardScript: [UInt8] { unsafe copy(cassets_dashboard_script(), cassets_dashboard_script_count()) }

    private static func copy(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}
