import TimerCore
import TimerLog
import TimerService
import WireJSON

@testable import TimerAPI

/// Input: the body of a request, read as each kind of body.
func fuzzBody(_ input: [UInt8]) {
    fuzzBatch(input)
    var document = JSONDocument()
    guard (try? document.parse(input)) != nil else { return }
    fuzzSelectors(document)
    fuzzCommand(document)
    do {
        fuzzTimer(try TimerBody(document, zones: hostZones), document)
    } catch {
        requireSound(error, document)
    }
    fuzzPatch(document)
}

/// The zones of the machine, as the server looks them up.
let hostZones = SystemZones()

private let siphash = SipHash(secret: [UInt8](repeating: 7, count: 16))

private func fuzzBatch(_ body: [UInt8]) {
    let form = BatchForm(of: body, isJSON: true)
    guard
        let run = try? BatchRun(body, form, isBrief: false, keepsParts: false, siphash: siphash, zones: hostZones)
    else { return }
    if form == .array {
        var document = JSONDocument()
        // The elements may be nested as deeply as a line, so the array may be one level deeper.
        do { try document.parse(body) } catch {
            require(error.message == "nesting over 32", "an array was taken that can't be parsed: \(error)")
        }
    }
    // The lines of one step are read at a time; another target applies them.
    for _ in 0..<2 { run.prepare({ Array("made".utf8) }, requestID: []) }
    require(run.outputBytes == 0, "a batch has results of lines that were not applied")
}

private func fuzzSelectors(_ document: JSONDocument) {
    let names = document.children(of: document.root).map(document.keyBytes)
    func requireNames(_ known: [String]) {
        require(!names.isEmpty, "a selector of nothing was taken")
        require(names.allSatisfy { known.contains(String(decoding: $0, as: UTF8.self)) }, "an unknown member was taken")
    }
    do {
        _ = try BulkRun(Array("delete".utf8), isDry: false, document)
        requireNames(["labels", "states"])
    } catch {
        requireSound(error, document)
    }
    do {
        _ = try BulkRedriveRun(document, isDry: false, siphash: siphash)
        requireNames(["timer", "labels"])
    } catch {
        requireSound(error, document)
    }
}

private func fuzzCommand(_ document: JSONDocument) {
    do {
        switch try CommandBody.target(document, document.root) {
        case .after(let delay, _): require((0...DurationText.maximum).contains(delay), "\(delay) is out of range")
        case .at(let at): require((RFC3339.minimum...RFC3339.maximum).contains(at), "\(at) is out of range")
        }
    } catch {
        requireSound(error, document)
    }
    do {
        try CommandBody.requireEmpty(document)
        require(document.kind(document.root) == .object, "what is no object passes for {}")
        require(document.children(of: document.root).isEmpty, "members pass for none")
    } catch {
        requireSound(error, document)
    }
}

/// Requires that a refusal can be shown, and that it points to a value of the body, or to a missing member.
private func requireSound(_ problem: Problem, _ document: JSONDocument) {
    require([400, 413].contains(problem.kind.status), "a body was refused as \(problem.kind)")
    var json = JSONWriter()
    problem.write(&json, instance: Array("/v1/timers".utf8), requestID: [])
    var shown = JSONDocument()
    guard (try? shown.parse(json.bytes)) != nil else { fatalError("broken: a problem is no JSON") }
    guard let pointer = problem.pointer else { return }
    let parent = pointer.prefix(upTo: pointer.lastIndex(of: "/") ?? pointer.startIndex)
    require(leads(String(parent), document), "'\(pointer)' leads nowhere: \(problem.detail)")
}

/// Whether a JSON pointer (RFC 6901) leads to a value.
private func leads(_ pointer: String, _ document: JSONDocument) -> Bool {
    var node = document.root
    for token in pointer.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
        let children = document.children(of: node)
        let child =
            switch document.kind(node) {
            case .object: children.first { Array(token) == escaped(document.keyBytes($0)) }
            case .array: Int(String(Substring(token))).flatMap { children.indices.contains($0) ? children[$0] : nil }
            default: nil as JSONNode?
            }
        guard let child else { return false }
        node = child
    }
    return true
}

private func escaped(_ key: [UInt8]) -> [UInt8] {
    key.flatMap { byte in
        switch byte {
        case UInt8(ascii: "~"): Array("~0".utf8)
        case UInt8(ascii: "/"): Array("~1".utf8)
        default: [byte]
        }
    }
}
