// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "timerd",
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        .executableTarget(name: "timerd", dependencies: ["TimerdCommand"]),
        .target(
            name: "TimerdCommand",
            dependencies: [
                "TimerForwarding", "TimerAPI", "TimerCluster", "PostgresLog", "TimerService", "TimerLog", "Webhooks",
                "PeerHTTP", "HTTPServer", "HTTPClient", "TLS", "WireJSON", "TimerCore", "Platform", "Primitives",
                "TOML",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "TimerAPI",
            dependencies: [
                "TimerService", "TimerLog", "Webhooks", "HTTPServer", "TLS", "WireJSON", "TimerCore", "Platform",
                "Primitives", "CAssets",
            ]),
        .target(
            name: "TimerService", dependencies: ["TimerLog", "TimerCore", "Webhooks", "Platform", "Primitives"]),
        .target(name: "TimerCluster", dependencies: ["TimerLog", "TimerCore", "Platform"]),
        .target(name: "TimerLog", dependencies: ["TimerCore", "Platform", "Primitives", "CSQLite"]),
        .target(name: "PostgresLog", dependencies: ["TimerLog", "TimerCore", "Platform", "CPQ", "CZstd"]),
        .target(
            name: "TimerForwarding", dependencies: ["TimerAPI", "PeerHTTP", "HTTPServer", "Platform", "Primitives"]),
        .target(name: "PeerHTTP", dependencies: ["HTTPServer", "Platform", "Primitives", "CNghttp2"]),
        .target(name: "HTTPServer", dependencies: ["TLS", "Platform", "Primitives", "CMicroHTTPD"]),
        .target(name: "TLS", dependencies: ["CTLS"]),
        .target(name: "HTTPClient", dependencies: ["Curl", "Platform", "Primitives"]),
        .target(
            name: "Webhooks",
            dependencies: ["Curl", "TimerCore", "WireJSON", "Platform", "Primitives", "CCrypto"]),
        .target(name: "Curl", dependencies: ["Platform", "CCurl"]),
        .target(name: "TOML", dependencies: ["CTOML"]),
        .target(name: "WireJSON", dependencies: ["Primitives"]),
        .target(name: "TimerCore", dependencies: ["Primitives"]),
        .target(name: "Primitives"),
        .target(name: "Platform", dependencies: ["CLinux"]),
        .target(name: "CLinux"),
        .target(name: "CAssets", exclude: ["dashboard", "reference"]),
        // Compiles toml++, whose headers are Debian's libtomlplusplus-dev.
        .target(name: "CTOML"),
        .target(name: "CTLS", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),

        // What `make instructions` counts; no part of the server.
        .executableTarget(
            name: "instructions",
            dependencies: ["TimerAPI", "TimerService", "TimerLog", "Webhooks", "WireJSON", "TimerCore"],
            path: "Benchmarks/Micro"),

        // What the tests of several modules use; no part of the server.
        .target(
            name: "TestSupport",
            dependencies: [
                "TimerAPI", "TimerService", "TimerLog", "TimerCore", "HTTPServer", "TLS", "Platform", "CTLSClient",
            ],
            path: "Tests/TestSupport"),
        .target(
            name: "CTLSClient", path: "Tests/CTLSClient",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .testTarget(name: "PrimitivesTests", dependencies: ["Primitives"]),
        .testTarget(name: "PlatformTests", dependencies: ["Platform", "TestSupport"]),
        .testTarget(name: "TimerCoreTests", dependencies: ["TimerCore", "TestSupport"]),
        .testTarget(name: "WireJSONTests", dependencies: ["WireJSON", "TestSupport"]),
        .testTarget(
            name: "TimerLogTests",
            dependencies: ["TimerLog", "PostgresLog", "TimerCore", "Platform", "CSQLite", "TestSupport"]),
        .testTarget(
            name: "TimerClusterTests",
            dependencies: ["TimerCluster", "TimerLog", "TimerCore", "Platform", "TestSupport"]),
        .testTarget(
            name: "PostgresLogTests",
            dependencies: ["PostgresLog", "TimerCluster", "TimerLog", "TimerCore", "Platform", "TestSupport"]),
        .testTarget(name: "PeerHTTPTests", dependencies: ["PeerHTTP"]),
        .testTarget(name: "TLSTests", dependencies: ["TLS", "Platform", "TestSupport"]),
        .testTarget(name: "HTTPServerTests", dependencies: ["HTTPServer", "TLS", "Platform", "TestSupport"]),
        .testTarget(name: "TOMLTests", dependencies: ["TOML"]),
        .testTarget(name: "HTTPClientTests", dependencies: ["HTTPClient", "TestSupport"]),
        .testTarget(name: "WebhooksTests", dependencies: ["Webhooks", "Curl", "TimerCore", "Platform", "TestSupport"]),
        .testTarget(
            name: "TimerServiceTests",
            dependencies: ["TimerService", "TimerLog", "TimerCore", "Webhooks", "Platform", "TestSupport"]),
        .testTarget(
            name: "TimerAPITests",
            dependencies: [
                "TimerAPI", "TimerService", "TimerLog", "TimerCore", "WireJSON", "HTTPServer", "TestSupport",
            ]),
        .testTarget(
            name: "TimerForwardingTests",
            dependencies: [
                "TimerForwarding", "TimerAPI", "TimerService", "TimerLog", "PeerHTTP", "HTTPServer", "Platform",
                "TestSupport",
            ]),
        .testTarget(
            name: "TimerdCommandTests",
            dependencies: [
                "TimerdCommand", "TimerAPI", "TimerService", "TimerLog", "HTTPServer", "HTTPClient", "TLS", "WireJSON",
                "TimerCore", "Webhooks", "Platform", "TestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "TimerService", "TimerCluster", "TimerLog", "Webhooks", "TimerCore", "Platform", "TestSupport",
            ]),
        .testTarget(name: "TidyTests"),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu2x,
    cxxLanguageStandard: .cxx17
)

// One place sets how every Swift target is compiled. C targets take no Swift settings.
let cTargets = ["CLinux", "CAssets", "CTOML", "CTLS", "CTLSClient"]
for target in package.targets where target.type != .system && !cTargets.contains(target.name) {
    target.swiftSettings = [
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        // A tenth of a request's instructions looked for overlapping accesses at run time. The builds
        // that are tested still do.
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
    ]
    // Optimised in debug builds too, with its assertions: the Swift tests compute most of all here.
    if ["Primitives", "TimerCore"].contains(target.name) {
        target.swiftSettings?.append(
            .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug)))
    }
    // The tests of optimised code are not optimised themselves: that would take longer than they run. Hardly a
    // module imports one of tests, so it comes out of its compilation; a job of its own checked its code twice.
    // A clean debug build fails without that job: it finds no module where it wraps one for the debugger.
    if target.type == .test || target.name == "TestSupport" {
        target.swiftSettings?.append(
            .unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release)))
    }
}
