public import TimerCore
package import TimerService
public import WireJSON

/// A timer as JSON, in the shape of the body that creates it.
public enum TimerJSON {
    /// Writes a timer: the fields that its kind uses with their defaults filled in, then the read-only fields.
    ///
    /// - Parameter seesMasks: whether the reader may not see the path of the webhook's URL and the values of its headers.
    package static func write(_ view: TimerView, seesMasks: Bool = false, _ json: inout JSONWriter) {
        let definition = view.definition.span
        let layout = Definition.checkedLayout(definition)
        json.beginObject()
        writeID("id", definition, &json)
        writeRules(layout.rules, &json)
        writeLabels(definition, &json)
        json.key("payload")
        if let payload = layout.payload { json.raw(definition, payload) } else { json.null() }
        WebhookJSON.write(
            definition, layout, isStopped: view.progress.flags.contains(.webhookStopped),
            secrets: seesMasks ? .hidden : .masked, &json)
        writeProgress(view, layout, &json)
        json.endObject()
    }

    /// Writes a member with the id of an encoded definition, or of the prefix of one.
    public static func writeID(_ name: StaticString, _ definition: Span<UInt8>, _ json: inout JSONWriter) {
        json.key(name)
        // Ids consist of characters that need no escapes.
        json.plain(upTo: TimerID.maximumLength) { Definition.appendID(definition, to: &$0) }
    }

    /// Writes the member `labels` with those of an encoded definition, or of the prefix of one.
    public static func writeLabels(_ definition: Span<UInt8>, _ json: inout JSONWriter) {
        let run = Definition.labels(definition)
        var offset = run.lowerBound
        json.beginObject("labels")
        while let (key, value) = Definition.nextLabel(definition, &offset, end: run.upperBound) {
            json.key(bytes: definition, key)
            json.string(definition, value)
        }
        json.endObject()
    }

    /// Writes the schedule and the policies that its kind uses, defaults filled in.
    public static func writeRules(_ rules: TimerRules, _ json: inout JSONWriter) {
        writeSchedule(rules, &json)
        writePolicies(rules, &json)
    }

    static func writeSchedule(_ rules: TimerRules, _ json: inout JSONWriter) {
        let isWorking = rules.clock == .working
        write(rules.schedule, isWorking, &json)
        guard rules.hasCalendarInstants || rules.schedule.kind != .watchdog else { return }
        if let calendar = rules.calendar {
            json.member("calendar", text: calendar.name.bytes)
        } else {
            json.member("calendar", nil)
        }
        guard rules.hasCalendarInstants else { return }
        json.member("onClosed", (rules.calendar?.onClosed ?? rules.usualOnClosed).name)
    }

    private static func write(_ schedule: Schedule, _ isWorking: Bool = false, _ json: inout JSONWriter) {
        switch schedule {
        case .after(let delay):
            json.member("after", duration: delay, inHours: isWorking)
        case .at(let instant):
            json.member("at", instant: instant)
        case .every(let period, let first):
            json.member("every", duration: period, inHours: isWorking)
            if case .after(let delay) = first { json.member("after", duration: delay, inHours: isWorking) }
            if case .at(let instant) = first { json.member("at", instant: instant) }
            if case .local(let instant, let zone) = first {
                json.member("at", instant: instant)
                json.member("timeZone", text: zone)
            }
        case .cron(let cron):
            json.member("cron", text: cron.text)
            json.member("timeZone", text: cron.zone)
            json.member("from", instant: cron.from)
        case .recurrence(let recurrence):
            json.member("rrule", text: recurrence.text)
            json.member("timeZone", text: recurrence.zone)
            json.member("from", instant: schedule.from)
            write("rdates", recurrence.rdates, &json)
            write("exdates", recurrence.exdates, &json)
        case .watchdog(let period):
            json.member("watchdog", duration: period)
        case .expecting(let schedule, let grace):
            json.member("watchdog", duration: grace)
            write(schedule, false, &json)
        }
    }

    static func write(_ name: StaticString, _ instants: [Int64], _ json: inout JSONWriter) {
        json.beginArray(name)
        for instant in instants { json.instant(instant) }
        json.endArray()
    }

    private static func writePolicies(_ rules: TimerRules, _ json: inout JSONWriter) {
        json.member("start", rules.start.name)
        if let stop = rules.stop { json.member("stop", stop.name) } else { json.member("stop", nil) }
        json.member("clock", rules.clock.name)
        json.member("leeway", duration: rules.leeway)
        json.member("jitter", duration: rules.jitter)
        if rules.schedule.kind == .repeating { json.member("mode", rules.mode.name) }
        if rules.schedule.kind == .watchdog {
            json.member("misses", rules.misses)
            json.member("repeatAlarm", rules.repeatAlarm)
        } else {
            json.member("onResume", rules.onResume.name)
            json.member("misfire", rules.misfire.name)
            json.member("misfireGrace", duration: rules.misfireGrace)
        }
        json.member("maxFires", rules.maxFires)
        json.member("until", instant: rules.until)
        json.member("restartable", rules.restartable)
        json.member("retain", duration: rules.retain)
    }

    private static func writeProgress(_ view: TimerView, _ layout: Definition.Layout, _ json: inout JSONWriter) {
        let progress = view.progress
        let rules = layout.rules
        json.member("state", progress.state.name)
        json.member("kind", rules.schedule.kind.name)
        json.member("createdAt", instant: layout.createdAt)
        json.member("updatedAt", instant: progress.updatedAt)
        json.member("version", progress.version)
        json.member("nextFireAt", instant: progress.nextFireAt(rules, view.now))
        json.member("remaining", duration: remaining(view, rules), inHours: rules.clock == .working)
        json.member("lastFiredAt", instant: progress.lastFiredAt == 0 ? nil : progress.lastFiredAt)
        json.member("fireCount", progress.fireCount)
        json.member("missedCount", progress.missedCount)
        if let kicks = view.kicks { writeHealth(progress, kicks, &json) }
        json.beginArray("allowed")
        for command in TimerCommand.allCases
        where TimerMachine.allows(
            command, in: progress.state, restartable: rules.restartable, isWatchdog: rules.schedule.kind == .watchdog)
        {
            json.string(command.name)
        }
        json.endArray()
    }

    /// Writes the fields that only a watchdog has.
    private static func writeHealth(_ progress: TimerProgress, _ kicks: KickProgress, _ json: inout JSONWriter) {
        json.member("health", progress.flags.contains(.stalled) ? "stalled" : "ok")
        json.member("lastKickedAt", instant: kicks.lastKickedAt == 0 ? nil : kicks.lastKickedAt)
        json.member("kickCount", kicks.kickCount)
    }

    /// Returns the whole milliseconds left of a timer whose fire is planned, or that is suspended and keeps its time
    /// left; nil for any other. A suspended watchdog has none, since it resumes with its full period.
    private static func remaining(_ view: TimerView, _ rules: TimerRules) -> Int64? {
        switch view.progress.state {
        case .running where view.progress.nextFireAt(rules, view.now) != nil && rules.clock == .working:
            return view.workingLeft
        case .running where view.progress.nextFireAt(rules, view.now) != nil:
            return view.now.millisecondsLeft(until: view.progress.fireDue(rules, view.now), on: rules.clock)
        case .suspended where rules.effectiveResume == .remaining && rules.schedule.kind != .watchdog:
            return view.progress.due / 1000
        default:
            return nil
        }
    }
}
