import Testing
import TimerCore
import TimerService
import WireJSON

@testable import TimerAPI

private struct OnlyUTC: ZoneSource {
    func zone(named name: [UInt8]) -> TimeZoneTable? { name == Array("UTC".utf8) ? .utc : nil }
}

/// Reading and showing of webhooks in the bodies of timers, for tests.
protocol WebhookBodies {}

extension WebhookBodies {
    func parsed(_ text: String) throws -> JSONDocument {
        var document = JSONDocument()
        try document.parse(Array(text.utf8))
        return document
    }

    /// The definition of a timer with this webhook, in JSON, that replaces another.
    func definition(_ webhook: String, replacing old: [UInt8] = []) throws -> [UInt8] {
        let document = try parsed(#"{"after":"1s","webhook":\#(webhook)}"#)
        return try TimerBody(document, zones: OnlyUTC()).definition(id: Array("t".utf8), replacing: old)
    }

    /// The webhook of a definition, as it is shown.
    func shown(
        _ definition: [UInt8], isStopped: Bool = false, secrets: WebhookJSON.Secrets = .masked
    ) throws -> String {
        let found = Definition.layout(definition.span)
        let layout = try #require(found)
        var json = JSONWriter()
        WebhookJSON.write(definition.span, layout, isStopped: isStopped, secrets: secrets, &json)
        return String(decoding: json.bytes.dropFirst(#""webhook":"#.utf8.count), as: UTF8.self)
    }

    func refusal(_ webhook: String, replacing old: [UInt8] = []) -> Problem? {
        do {
            _ = try definition(webhook, replacing: old)
            return nil
        } catch {
            return error as? Problem
        }
    }

    /// The definition after a merge patch.
    func patched(_ patch: String, _ definition: [UInt8]) throws -> [UInt8] {
        var view = TimerView()
        view.definition = definition
        return try MergePatch.definition(view, parsed(patch), zones: OnlyUTC())
    }
}
