import CAssets
import HTTPServer
import Webhooks

/// A file that never changes, with an entity tag.
struct Document {
    let bytes: [UInt8]
    /// The file's media type.
    let type: String
    let tag: String

    init(_ bytes: [UInt8], type: String) {
        self.bytes = bytes
        self.type = type
        tag = "\"\(SHA256.base64(of: bytes))\""
    }

    /// Fills the response with the file, or with 304 if the client has it.
    func fill(_ exchange: Exchange) {
        exchange.response.add("Cache-Control", "no-cache")
        exchange.response.add("ETag", tag)
        exchange.response.add("X-Content-Type-Options", "nosniff")
        if let value = exchange.list("if-none-match"), Conditions.ifNoneMatch(value, names: tag) {
            exchange.response.status = 304
        }
        exchange.response.add("Content-Type", type)
        exchange.response.body = bytes
    }
}

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

    /// The markup of the parts that the dashboard loads on first use.
    static var dashboardParts: [UInt8] { unsafe copy(cassets_parts_page(), cassets_parts_page_count()) }
    /// The style of those parts.
    static var dashboardPartsStyle: [UInt8] { unsafe copy(cassets_parts_style(), cassets_parts_style_count()) }
    /// The scripts of those parts, one after the other.
    static var dashboardPartsScript: [UInt8] { unsafe copy(cassets_parts_script(), cassets_parts_script_count()) }

    private static func copy(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}

/// The files that the server shows as they are. Each is joined and hashed once somebody asks for it: a start pays for none of
/// them, and a server whose pages nobody opens keeps none.
enum Documents {
    static let dashboard = HTMLPage(
        JoinedPage.bytes(page: Assets.dashboardPage, style: Assets.dashboardStyle, script: Assets.dashboardScript),
        parts: dashboardParts.bytes)
    /// The markup, style and scripts that the dashboard loads on first use.
    static let dashboardParts = Document(
        JoinedPage.bytes(
            page: Assets.dashboardParts, style: Assets.dashboardPartsStyle, script: Assets.dashboardPartsScript),
        type: "text/plain; charset=utf-8")
    static let reference = HTMLPage(
        JoinedPage.bytes(page: Assets.referencePage, style: Assets.referenceStyle, script: Assets.referenceScript))
    static let openAPI = Document(Assets.openAPI, type: "application/yaml")
    static let openAPIJSON = Document(Assets.openAPIJSON, type: "application/json")
}
