import TimerCore
import WireJSON

@testable import HTTPServer
@testable import TimerAPI

/// A request's path and query; `Target` alone is the enum of parsers under fuzzing.
private typealias RequestTarget = TimerAPI.Target

/// Input: the target of a request, as its first line has it, and header lines on the lines below.
func fuzzTarget(_ input: [UInt8]) {
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    fuzzHeaders(lines.dropFirst())
    let text = Array(lines[0])
    guard let (authority, start) = try? RequestCheck.target(text, method: .get) else { return }
    require(start == 0 || !authority.isEmpty && authority.upperBound == start, "an absolute target names no host")
    var origin = Array(text[start...])
    if origin.first != UInt8(ascii: "/") { origin.insert(UInt8(ascii: "/"), at: 0) }
    guard let target = try? RequestTarget(origin) else { return }
    let again = encoded(target.parts, target.parameters)
    requireSame(target, try? RequestTarget(again), "\(String(decoding: again, as: UTF8.self)) decodes otherwise")
    fuzzRoute(target)
    fuzzPages(target)
}

private func requireSame(_ target: RequestTarget, _ other: RequestTarget?, _ promise: @autoclosure () -> String) {
    require(
        other?.parts == target.parts && other?.parameters.map(\.name) == target.parameters.map(\.name)
            && other?.parameters.map(\.value) == target.parameters.map(\.value), promise())
}

/// A target that spells everything with escapes.
private func encoded(_ parts: PathParts, _ parameters: [(name: String, value: [UInt8])] = []) -> [UInt8] {
    func escaped(_ bytes: some Collection<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
    }
    let path = parts.map { "/" + escaped($0) }.joined()
    let query = parameters.map { escaped($0.name.utf8) + "=" + escaped($0.value) }.joined(separator: "&")
    return Array(((path.isEmpty ? "/" : path) + (parameters.isEmpty ? "" : "?" + query)).utf8)
}

/// Requires that the path that a route shows leads to that route.
private func fuzzRoute(_ target: RequestTarget) {
    guard case .route(let route, let parameter) = Routing.match(target.parts) else { return }
    require(!route.methods.isEmpty, "\(route) takes no method")
    let parts = route.path.split(separator: "/").map { part in part.first == "{" ? Array(parameter) : Array(part.utf8) }
    require(parts == target.parts.map(Array.init), "\(route) is not at \(route.path)")
}

private func fuzzPages(_ target: RequestTarget) {
    let cursor = target.parameters.first { $0.name == "cursor" }?.value ?? []
    if let run = try? ListRun(target) {
        require((1...APILimits.listMaximum).contains(run.limit), "a page of \(run.limit)")
        require(run.labels.count <= APILimits.labels, "\(run.labels.count) labels")
        if let place = ListCursor(cursor, bySoonest: run.bySoonest) {
            require(Array(place.text.utf8) == cursor, "a cursor has two spellings")
        }
        let next = run.bySoonest ? "00000000000000ff-0000000000000000" : "00000000000000ff"
        requireNext(target, .timers, next) { target in (try? ListRun(target)) != nil }
    }
    let siphash = SipHash(secret: [UInt8](repeating: 7, count: 16))
    if (try? DeliveryListRun(target, siphash: siphash)) != nil {
        // A cursor that no position can reach reads as the largest.
        if let id = EventID(shown: cursor), id.position < .max {
            require(Array(id.text.utf8) == cursor, "a cursor has two spellings")
        }
        requireNext(target, .deliveries, EventID(7).text) { target in
            (try? DeliveryListRun(target, siphash: siphash)) != nil
        }
    }
    if let (key, value) = (try? ListRun(target))?.labels.first.flatMap(label) {
        require(FieldReader.isLabelKey(key) && value.count <= APILimits.labelValueBytes, "a label no timer can have")
    }
}

/// Requires that a page's link to the next asks for the same list, from another place on.
private func requireNext(
    _ target: RequestTarget, _ route: Route, _ cursor: String, _ isPage: (RequestTarget) -> Bool
) {
    let link = Renderer.nextTarget(route, target.parameters, cursor)
    require(link.utf8.allSatisfy { !"<>\" \\^`{|}#".utf8.contains($0) && $0 < 0x7F }, "\(link) is no URL")
    guard let next = try? RequestTarget(Array(link.utf8)) else { fatalError("broken: \(link) does not decode") }
    require(isPage(next), "\(link) is no page")
    let kept = target.parameters.filter { $0.name != "cursor" }
    require("/" + next.parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/") == route.path, link)
    require(next.parameters.map(\.name) == kept.map(\.name) + ["cursor"], "\(link) asks for something else")
    require(
        next.parameters.map(\.value) == kept.map(\.value) + [Array(cursor.utf8)], "\(link) asks for something else")
}

private func label(_ encoded: [UInt8]) -> (key: [UInt8], value: [UInt8])? {
    var offset = 0
    return Definition.nextLabel(encoded.span, &offset, end: encoded.count).map {
        (Array(encoded[$0.key]), Array(encoded[$0.value]))
    }
}

/// Requires that accepted header lines give one length of the body, and name one host.
private func fuzzHeaders(_ lines: ArraySlice<ArraySlice<UInt8>>) {
    var headers = RequestHeaders()
    var fields: [(name: String, value: String)] = []
    for line in lines {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        let name = Array(line[..<colon])
        let value = Array(line[colon...].dropFirst().drop { $0 == 0x20 || $0 == 0x09 })
        headers.append(name: name.span, value: value.span)
        guard let last = headers.count > 0 ? headers.value(at: headers.count - 1) : nil else { return }
        fuzzConditions(last.bytes)
        fuzzHost(last.bytes)
        fields.append((String(decoding: name, as: UTF8.self).lowercased(), last.text))
    }
    for isHTTP11 in [false, true] {
        guard let facts = try? RequestCheck.headers(headers, isHTTP11: isHTTP11) else { continue }
        let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
        let codings = fields.filter { $0.name == "transfer-encoding" }.map { $0.value.lowercased() }
        let hosts = fields.count { $0.name == "host" }
        require(hosts == 1 || hosts == 0 && !isHTTP11, "\(hosts) hosts")
        switch facts.framing {
        case .none: require(lengths.isEmpty && codings.isEmpty, "a body is overlooked")
        case .chunked: require(lengths.isEmpty && codings == ["chunked"] && isHTTP11, "chunks are seen in \(codings)")
        case .length(let length):
            let digits = lengths.first?.drop { $0 == "0" } ?? ""
            require(codings.isEmpty && lengths.count == 1, "\(lengths) are one length")
            require(digits == (length == 0 ? "" : "\(length)"), "\(lengths) is read as \(length)")
        }
    }
}

/// Requires that no name passes for an address: the owner of a name decides where it leads.
private func fuzzHost(_ value: ArraySlice<UInt8>) {
    guard let host = Gate.host(of: value) else { return }
    require(value.starts(with: host), "a host is not what the value begins with")
    let mayBeName = host.first != UInt8(ascii: "[") && host.last.map { !(0x30...0x39).contains($0) } ?? true
    require(!mayBeName || !Gate.isAddress(host), "\(HeaderValue(host).text) passes for an address")
}

/// Requires that a condition contains the versions that it names.
private func fuzzConditions(_ value: ArraySlice<UInt8>) {
    guard case .oneOf(let versions) = Conditions.ifMatch(value) else { return }
    for version in versions where version < .max {
        var tag: [UInt8] = []
        tag.append(addingCapacity: Conditions.longestTag) { Conditions.appendTag(version, to: &$0) }
        require(
            value.split(separator: UInt8(ascii: ",")).contains { part in
                HeaderValue(part).text.contains(String(decoding: tag, as: UTF8.self))
            }, "version \(version) is not in the condition")
        require(Conditions.ifNoneMatch(value, names: version), "one condition names version \(version), the other not")
    }
}
