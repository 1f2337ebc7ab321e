import ArgumentParser
import Platform
import TimerAPI
import TimerCore
import TimerService
import WireJSON

/// `timerd preview`: when a cron expression or a recurrence rule fires, computed by the server's own code without asking a server.
struct Preview: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show when a cron expression or a recurrence rule would fire.",
        discussion: """
            Five fields, six with seconds first, or a name such as @daily; or a rule of RFC 5545, which begins with \
            FREQ= or RRULE:. Asks no server; the time zones are those of this machine. The first line describes the \
            schedule; each other one is the local time of a fire with its offset from UTC, and the same instant in UTC.

              timerd preview '0 9 * * MON-FRI' --time-zone Europe/Berlin
              timerd preview '0 12 L * *' --count 3 --from 2030-01-01T00:00:00Z
              timerd preview 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO' --from 2030-01-07T09:00:00Z
              timerd preview '0 12 25 * *' --calendar berlin.json --on-closed previousDay
              timerd preview @hourly --json
            """)

    /// Most fires shown, as many as the server previews.
    private static let mostFires = 1000

    @Argument(help: ArgumentHelp("The cron expression or the rule, in quotes", valueName: "schedule"))
    var expression: String
    @Option(help: ArgumentHelp("An IANA name such as Europe/Berlin", valueName: "name")) var timeZone = "UTC"
    @Option(help: ArgumentHelp("How many fires, 1 to \(mostFires)", valueName: "n")) var count = 10
    @Option(
        help: ArgumentHelp(
            "Only fires at or after this RFC 3339 instant; else from now on. A rule repeats itself from there",
            valueName: "instant"))
    var from: String?
    @Option(
        help: ArgumentHelp(
            "A calendar, as `timerd calendars put` takes it: its closed time leaves fires out, or moves them",
            valueName: "file"),
        completion: .file())
    var calendar: String?
    @Option(
        help: ArgumentHelp("For --calendar: skip, the default, next, nextDay or previousDay"),
        completion: Completions.closedPolicies)
    var onClosed: String?
    @Flag(help: "Print JSON: an object with the fires in UTC and in local time, and the description.") var json = false

    func run() throws {
        guard (1...Self.mostFires).contains(count) else {
            throw Failure(.usage, "--count \(count): expected 1 to \(Self.mostFires)")
        }
        let zones = HostZones.source()
        guard zones.offers(Array(timeZone.utf8)), let zone = zones.zone(named: Array(timeZone.utf8)) else {
            throw Failure(.usage, "--time-zone: \(UnknownZone(Array(timeZone.utf8), in: zones).message)")
        }
        let fires = try fires(zones)
        let (instants, words) = (fires.instants, fires.words)
        Console.out(bytes: json ? Self.object(instants, words, zone) : Self.lines(instants, words, zone))
    }

    private var quoted: String { "'\(Printable.text(expression))'" }

    private func fires(_ zones: any ZoneSource) throws(Failure) -> UpcomingFires {
        var start = Clocks.realtime() / 1_000_000
        // The fires after `last` are shown; with `--from` also one at that instant itself.
        var last = start
        if let from {
            do throws(TextError) { start = try RFC3339.parse(Array(from.utf8)) } catch {
                throw Failure(.usage, "--from \(Printable.text(from)): \(error.message)")
            }
            last = start - 1
        }
        var scheduler = Scheduler(secret: [UInt8](repeating: 0, count: 16), zones: zones)
        var rules = TimerRules(try schedule(from: start))
        rules.calendar = try calendarRule(&scheduler)
        let now = Now(elapsed: 0, wallOffset: last)
        do throws(TimerRefusal) {
            var fires = try scheduler.preview(rules, now, count: count)
            while !fires.isDone { fires.step() }
            return fires
        } catch {
            guard case .invalidSchedule(_, let reason) = error, calendar != nil else {
                throw Failure(.usage, "\(quoted): no fire is due up to the year 9999")
            }
            throw Failure(.usage, "\(quoted): \(reason)")
        }
    }

    /// Returns the schedule; a recurrence rule repeats itself from `start`.
    private func schedule(from start: Int64) throws(Failure) -> Schedule {
        let (text, name) = (Array(expression.utf8), Array(timeZone.utf8))
        let isRule = ["FREQ=", "RRULE:"].contains { expression.uppercased().contains($0) }
        do throws(RecurrenceError) {
            if isRule { return .recurrence(try RecurrenceSchedule(text, zone: name, from: start)) }
        } catch {
            throw Failure(.usage, "\(quoted): \(Printable.text(error.message))")
        }
        do throws(CronError) { return .cron(try CronSchedule(text, zone: name, from: nil)) } catch {
            throw Failure(.usage, "\(quoted): \(Printable.text(error.message))")
        }
    }

    /// Reads the calendar into `scheduler`, and returns the rule of the fires in its closed time; nil without one.
    private func calendarRule(_ scheduler: inout Scheduler) throws(Failure) -> CalendarRule? {
        let policy = ClosedPolicy.allCases.first { "\($0.name)" == onClosed ?? "skip" }
        guard let policy else { throw Failure(.usage, "--on-closed: one of skip, next, nextDay, previousDay") }
        guard let file = calendar else {
            guard onClosed == nil else { throw Failure(.usage, "--on-closed goes with --calendar") }
            return nil
        }
        // The words name the calendar as its file is named, without the ending.
        let title = file.split(separator: "/").last?.split(separator: ".").first ?? ""
        guard let name = CalendarName(title.utf8) ?? CalendarName("calendar".utf8) else { return nil }
        let bytes = try InputFile(file).readAll(limit: JSONText.limit)
        do throws(Problem) {
            let content = try CalendarFields.content(of: name, in: bytes, zones: scheduler.zones)
            scheduler.set(NamedCalendar(name: name, content: content, version: 1, updatedAt: 0))
        } catch {
            throw Failure(.usage, "\(Printable.text(file)): \(Printable.text(error.detail))")
        }
        return CalendarRule(name, onClosed: policy)
    }

    /// Returns the words, then a line for each fire: `2026-11-23T09:00:00+01:00  2026-11-23T08:00:00Z`.
    private static func lines(_ fires: [Int64], _ words: String, _ zone: TimeZoneTable) -> [UInt8] {
        Array("\(words)\n".utf8)
            + fires.flatMap { fire in
                local(fire, zone) + "  ".utf8 + LocalTime.text(fire, offset: 0) + [UInt8(ascii: "\n")]
            }
    }

    private static func object(_ fires: [Int64], _ words: String, _ zone: TimeZoneTable) -> [UInt8] {
        JSONWriter.object { writer in
            writer.beginArray("fires")
            for fire in fires { writer.instant(fire) }
            writer.endArray()
            writer.beginArray("local")
            for fire in fires { writer.string(local(fire, zone)) }
            writer.endArray()
            writer.member("description", text: words)
        } + [0x0a]
    }

    private static func local(_ fire: Int64, _ zone: TimeZoneTable) -> [UInt8] {
        LocalTime.text(fire, offset: HostZones.offset(of: zone, at: fire))
    }
}

/// An instant in the local time of a time zone.
enum LocalTime {
    /// Returns the instant by RFC 3339, in whole seconds: `2026-11-23T09:00:00+01:00`, or with `Z` where `offset`
    /// is 0.
    ///
    /// Offsets from before standard time have seconds, which ISO 8601 can express and RFC 3339 can't.
    ///
    /// - Parameters:
    ///   - instant: wall milliseconds.
    ///   - offset: seconds ahead of UTC.
    static func text(_ instant: Int64, offset: Int64) -> [UInt8] {
        var text: [UInt8] = []
        RFC3339.append(instant + offset * 1000, to: &text)
        // The milliseconds, which cron does not have, and the Z are removed.
        text.removeLast(".000Z".utf8.count)
        guard offset != 0 else { return text + "Z".utf8 }
        let seconds = offset.magnitude
        let parts = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { ($0 < 10 ? "0" : "") + String($0) }
        return text + ((offset < 0 ? "-" : "+") + parts.prefix(seconds % 60 == 0 ? 2 : 3).joined(separator: ":")).utf8
    }
}

/// The time zones of the machine: the one place that chooses their source.
enum HostZones {
    /// Makes the source in which the server and `preview` look up zones.
    static func source() -> any ZoneSource { SystemZones() }

    /// Returns the seconds that local time in `zone` is ahead of UTC at a wall instant in milliseconds.
    static func offset(of zone: TimeZoneTable, at instant: Int64) -> Int64 {
        zone.offset(at: instant >= 0 ? instant / 1000 : (instant - 999) / 1000)
    }
}
