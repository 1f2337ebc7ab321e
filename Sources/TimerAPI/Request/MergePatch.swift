import TimerCore
import TimerService
import WireJSON

/// JSON Merge Patch (RFC 7396).
enum MergePatch {
    /// Returns the result of applying `patch` to `base`. Values that the patch does not touch keep their spelling.
    static func apply(_ patch: JSONDocument, to base: JSONDocument) -> [UInt8] {
        var json = JSONWriter()
        merge(base, base.root, patch, patch.root, &json)
        return json.bytes
    }

    private static func merge(
        _ base: JSONDocument, _ target: JSONNode?, _ patch: JSONDocument, _ change: JSONNode, _ json: inout JSONWriter
    ) {
        guard patch.kind(change) == .object else {
            json.raw(patch.compact(change))
            return
        }
        json.beginObject()
        let members = target.flatMap { base.kind($0) == .object ? base.children(of: $0) : nil } ?? []
        let changes = patch.children(of: change)
        var byKey: [[UInt8]: JSONNode] = [:]
        for member in changes { byKey[patch.keyBytes(member)] = member }
        var known: Set<[UInt8]> = []
        for member in members {
            let key = base.keyBytes(member)
            known.insert(key)
            guard let change = byKey[key] else {
                json.key(bytes: key)
                json.raw(base.compact(member))
                continue
            }
            if patch.kind(change) == .null { continue }
            json.key(bytes: key)
            merge(base, member, patch, change, &json)
        }
        for member in changes where patch.kind(member) != .null {
            let key = patch.keyBytes(member)
            if known.contains(key) { continue }
            json.key(bytes: key)
            merge(base, nil, patch, member, &json)
        }
        json.endObject()
    }

    /// Returns the body that would create the timer of `definition`, without defaults: a patch is applied to it.
    /// Secrets are masked.
    static func base(_ definition: [UInt8]) -> [UInt8] {
        let layout = Definition.checkedLayout(definition.span)
        let rules = layout.rules
        return JSONWriter.object { json in
            TimerJSON.writeID("id", definition.span, &json)
            TimerJSON.writeSchedule(rules, &json)
            json.member("start", rules.start.name)
            if let stop = rules.stop { json.member("stop", stop.name) }
            if rules.clock != rules.schedule.defaultClock {
                json.member("clock", rules.clock.name)
            }
            writeChosen(rules, &json)
            if let maxFires = rules.maxFires {
                json.member("maxFires", maxFires)
            }
            if let until = rules.until {
                json.member("until", instant: until)
            }
            json.member("restartable", rules.restartable)
            json.member("retain", duration: rules.retain)
            TimerJSON.writeLabels(definition.span, &json)
            if let payload = layout.payload {
                json.key("payload")
                json.raw(definition.span, payload)
            }
            if layout.webhook != nil {
                WebhookJSON.write(definition.span, layout, isStopped: false, &json)
            }
        }
    }

    /// Writes the fields that only some kinds use, and those that delay fires, unless they are at their defaults.
    private static func writeChosen(_ rules: TimerRules, _ json: inout JSONWriter) {
        if rules.mode != .fixedRate {
            json.member("mode", rules.mode.name)
        }
        if rules.onResume != .remaining {
            json.member("onResume", rules.onResume.name)
        }
        if rules.misfire != .once {
            json.member("misfire", rules.misfire.name)
        }
        if let grace = rules.misfireGrace {
            json.member("misfireGrace", duration: grace)
        }
        if rules.misses != 1 {
            json.member("misses", rules.misses)
        }
        if rules.repeatAlarm {
            json.member("repeatAlarm", true)
        }
        if rules.leeway != 0 {
            json.member("leeway", duration: rules.leeway)
        }
        if rules.jitter != 0 {
            json.member("jitter", duration: rules.jitter)
        }
    }

    /// Returns the definition of the patched timer.
    ///
    /// A patch that changes the kind needs `null` for the old schedule field only: fields that only the old kind uses
    /// are dropped with it, unless the patch names them. If `repeatAlarm` were refused because a watchdog that
    /// becomes a one-shot once had it, a client would have to know every setting that other clients made.
    static func definition(
        _ view: TimerView, _ patch: JSONDocument, zones: any ZoneSource
    ) throws(Problem) -> [UInt8] {
        guard patch.kind(patch.root) == .object else {
            throw Problem(.invalidRequest, "a merge patch must be a JSON object", pointer: "")
        }
        try TimerBody.requireKnownFields(patch)
        var base = JSONDocument()
        var merged = JSONDocument()
        do {
            try base.parse(Self.base(view.definition))
            try merged.parse(apply(patch, to: base))
        } catch {
            throw Problem(.invalidRequest, error.message, pointer: error.pointer)
        }
        if let stop = patch.member(patch.root, "stop"),
            patch.kind(stop) != .null || base.member(base.root, "stop") != nil
        {
            throw Problem(.invalidRequest, "`stop` counts at creation only", pointer: "/stop")
        }
        let body = try TimerBody(merged, zones: zones, patch: patch)
        var id: [UInt8] = []
        Definition.appendID(view.definition.span, to: &id)
        guard body.id == id else {
            throw Problem(.invalidRequest, "a timer's id can't be changed", pointer: "/id")
        }
        guard body.rules.start == Definition.layout(view.definition.span)?.rules.start else {
            throw Problem(.invalidRequest, "`start` counts at creation only", pointer: "/start")
        }
        return try body.definition(id: id, replacing: view.definition)
    }
}
