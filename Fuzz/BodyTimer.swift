import TimerCore
import TimerService
import WireJSON

@testable import TimerAPI

/// Requires that an accepted timer is shown as it is kept, and fires when its preview says.
func fuzzTimer(_ body: TimerBody, _ document: JSONDocument) {
    let id = body.id ?? Array("tea".utf8)
    guard let definition = try? body.definition(id: id) else {
        // Masks are recognised only once the stored timer is there.
        return require(body.keepsSecrets, "a body was accepted that makes no timer")
    }
    guard let layout = Definition.layout(definition.span) else { fatalError("broken: what was written does not read") }
    require(layout.rules == body.rules, "the rules read otherwise once written")
    let scheduler = PreviewedTimer(id, definition)
    let views = [idleView(definition), scheduler?.view].compactMap(\.self)
    for view in views {
        require(put(shown(view), onto: view) == view.definition, "what GET gave makes another timer")
        require(
            put(MergePatch.base(view.definition), onto: view) == view.definition,
            "what a patch starts from is another timer")
        require(patch(Array("{}".utf8), view) == view.definition, "a patch of nothing changes something")
    }
    scheduler?.run()
}

/// Requires that a patch can be applied twice, and changes nothing the second time.
func fuzzPatch(_ patch: JSONDocument) {
    for view in stored {
        var base = JSONDocument()
        guard (try? base.parse(MergePatch.base(view.definition))) != nil else {
            fatalError("broken: a timer is no JSON")
        }
        let merged = MergePatch.apply(patch, to: base)
        guard (try? base.parse(merged)) != nil else { fatalError("broken: what was merged is no JSON") }
        require(MergePatch.apply(patch, to: base) == merged, "a second merge changes something")
        guard let definition = try? MergePatch.definition(view, patch, zones: hostZones) else { continue }
        require(Definition.layout(definition.span) != nil, "what was patched does not read")
        var view = view
        view.definition = definition
        view.kicks = kicks(definition)
        let again = try? MergePatch.definition(view, patch, zones: hostZones)
        require(again == definition, "a second patch changes something")
    }
}

/// A timer of each kind, with everything that can be set.
private let stored: [TimerView] = [
    #"{"id":"a","after":"1h","labels":{"k":"v"},"payload":{"a":[1,{"b":null}]},"restartable":true}"#,
    #"{"id":"b","every":"1m","at":"2030-01-01T00:00:00Z","mode":"fixedDelay","onResume":"skip","misfire":"all"}"#,
    #"{"id":"c","cron":"0 9 * * MON-FRI","timeZone":"UTC","from":"2030-01-01T00:00:00Z","misfireGrace":"1h"}"#,
    #"{"id":"d","watchdog":"30s","misses":3,"repeatAlarm":true,"clock":"wall","until":"2031-01-01T00:00:00Z"}"#,
    #"""
    {"id":"e","at":"2030-01-01T00:00:00Z","leeway":"1s","jitter":"2s","maxFires":2,"retain":"1d","start":"manual","webhook":
    {"url":"https://hooks.example/e","headers":{"X-A":"b"},"types":["fired","cancelled"],"retry":{"maxAttempts":3},
    "secret":["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAABBBB"]}}
    """#,
].map { text in
    var document = JSONDocument()
    guard (try? document.parse(Array(text.utf8))) != nil, let body = try? TimerBody(document, zones: hostZones),
        let definition = try? body.definition(id: body.id ?? [])
    else { fatalError("\(text) is a timer") }
    return idleView(definition)
}

private func idleView(_ definition: [UInt8]) -> TimerView {
    var view = TimerView()
    view.definition = definition
    view.kicks = kicks(definition)
    view.progress.flags = .webhookStopped
    return view
}

private func kicks(_ definition: [UInt8]) -> KickProgress? {
    Definition.layout(definition.span)?.rules.schedule.kind == .watchdog ? KickProgress() : nil
}

private func shown(_ view: TimerView) -> [UInt8] {
    var json = JSONWriter()
    TimerJSON.write(view, &json)
    return json.bytes
}

/// The definition that a timer has after a PUT of `text`.
private func put(_ text: [UInt8], onto view: TimerView) -> [UInt8]? {
    var document = JSONDocument()
    guard (try? document.parse(text)) != nil else { fatalError("broken: a timer is no JSON") }
    guard let body = try? TimerBody(document, zones: hostZones) else { return nil }
    return (try? body.definition(id: body.id ?? [], replacing: view.definition)).map { made(at: view, $0) }
}

private func patch(_ text: [UInt8], _ view: TimerView) -> [UInt8]? {
    var document = JSONDocument()
    guard (try? document.parse(text)) != nil else { return nil }
    return (try? MergePatch.definition(view, document, zones: hostZones)).map { made(at: view, $0) }
}

/// `definition` with the instant at which the timer was made.
private func made(at view: TimerView, _ definition: [UInt8]) -> [UInt8] {
    guard let place = Definition.prefixCount(definition.span), let old = Definition.prefixCount(view.definition.span)
    else { return definition }
    return Array(definition[..<place] + view.definition[old..<old + 6] + definition[(place + 6)...])
}
