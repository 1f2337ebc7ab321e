import ArgumentParser
import HTTPClient
import TimerCore

/// A list of timers in the order in which a person asks for them: watchdogs that alarm now, then what fires next,
/// then timers without a planned fire.
///
/// The server lists each of these parts by itself. A timer that passes from one to another between two requests is
/// shown once, or not at all.
struct TimerListing {
    /// A part of the list.
    enum Section: String, CaseIterable {
        case stalled, due, rest
    }

    /// A place in the list at which to go on: a part, and the cursor after a page of that part.
    struct Place {
        var section: Section
        var cursor: String?

        /// Makes a place in a section: its beginning, or the place where `cursor` points.
        init(_ section: Section, _ cursor: String? = nil) {
            self.section = section
            self.cursor = cursor
        }

        /// Reads the form of `text`; nil where it is none.
        init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let section = Section(rawValue: parts[0]) else { return nil }
            self.init(section, parts[1].isEmpty ? nil : parts[1])
        }

        /// The place as a value of `--cursor`.
        var text: String { "\(section.rawValue):\(cursor ?? "")" }
    }

    /// The filter that selects the timers.
    let filter: TimerFilter

    /// Most timers on one of the server's pages.
    static let pageLimit = 1000

    /// Returns the next timers, at most `limit`, and the place at which to go on; nil at the end.
    func timers(_ service: ServiceClient, from start: Place?, limit: Int) throws(Failure) -> (
        timers: [JSONObject], next: Place?
    ) {
        var found: [JSONObject] = []
        var seen: Set<String> = []
        var place = start ?? sections.first.map { Place($0) }
        while let here = place, found.count < limit {
            let response = try service.send(HTTPRequest(.get, target(here, limit - found.count)))
            let page = try JSONObject(response)
            for timer in page.objects("timers") where isWanted(timer, here.section) {
                if let id = timer["id"], seen.insert(id).inserted { found.append(timer) }
            }
            if let cursor = page["next"] {
                guard cursor != here.cursor else { throw Failure(.other, "the server repeats a page: is it timerd?") }
                place = Place(here.section, cursor)
            } else {
                place = sections.drop { $0 != here.section }.dropFirst().first.map { Place($0) }
            }
        }
        return (found, place)
    }

    private var states: [String]? { filter.state?.split(separator: ",").map(String.init) }

    /// The parts that can hold timers that the filter selects.
    private var sections: [Section] {
        if filter.health == "stalled" { return [.stalled] }
        let running = "\(TimerState.running.name)"
        let hasRunning = states?.contains(running) ?? true
        let hasOthers = states?.contains { $0 != running } ?? true
        return (hasRunning ? [filter.health == nil ? .stalled : nil, .due].compactMap(\.self) : [])
            + (hasOthers ? [.rest] : [])
    }

    private func target(_ place: Place, _ limit: Int) -> String {
        let resting = TimerState.allCases.filter { $0 != .running }.map { "\($0.name)" }
        var target =
            switch place.section {
            case .stalled: filter.target(states: filter.state, health: "stalled")
            case .due: filter.target(states: filter.state, health: filter.health)
            case .rest:
                filter.target(
                    states: (states ?? resting).filter { $0 != "\(TimerState.running.name)" }.joined(separator: ","),
                    health: filter.health)
            }
        if place.section == .due { target.add("sort", "nextFireAt") }
        target.add("limit", String(min(limit, Self.pageLimit)))
        target.add("cursor", place.cursor)
        return target.text
    }

    /// Whether the list shows a timer in a part: a stalled watchdog that alarms again is shown among the next
    /// fires instead, unless only stalled ones are wanted.
    private func isWanted(_ timer: JSONObject, _ section: Section) -> Bool {
        section != .stalled || filter.health == "stalled" || timer["nextFireAt"] == nil
    }
}

/// The flags that select the timers of a list.
struct TimerFilter: ParsableArguments {
    @Option(help: ArgumentHelp("Only in these states", valueName: "state,…"), completion: Completions.states)
    var state: String?
    @Option(help: ArgumentHelp("Only of these kinds", valueName: "kind,…"), completion: Completions.kinds)
    var kind: String?
    @Option(help: ArgumentHelp("Only with this label; may repeat", valueName: "key=value")) var label: [String] = []
    @Option(
        help: ArgumentHelp("Only watchdogs that are ok, or stalled", valueName: "health"),
        completion: Completions.healths)
    var health: String?
    @Option(help: ArgumentHelp("Only ids that begin so", valueName: "text")) var idPrefix: String?

    /// Returns the target of the list of the selected timers.
    ///
    /// - Parameters:
    ///   - states: states between commas, instead of the filter's own.
    ///   - health: a health, instead of the filter's own.
    func target(states: String?, health: String?) -> RequestTarget {
        var target = RequestTarget("v1", "timers")
        target.add("state", states)
        target.add("kind", kind)
        for label in label { target.add("label", label) }
        target.add("health", health)
        target.add("idPrefix", idPrefix)
        return target
    }
}
