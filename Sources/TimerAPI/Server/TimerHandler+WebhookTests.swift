import HTTPServer
import TimerCore
import TimerService
import WireJSON

/// Tests of webhooks. The answer waits for that of the receiver, up to the webhook's timeout, so it is parked.
extension TimerHandler {
    /// Sends a test event to the webhook of the timer in the ticket's view, which is durable.
    func testWebhook(_ ticket: Ticket) {
        let definition = ticket.view.definition
        guard let webhook = Definition.layout(definition.span)?.webhook else {
            return respond(ticket, with: .noWebhook(timer: ticket.parameter))
        }
        guard let answer = ticket.answer.take() else { return }
        switch answer.park() {
        case .refused(let answer, let reason): refuseStream(answer, reason, ticket)
        case .parked(let parked):
            let (serial, inbox) = (ticket.serial, inbox)
            webhookTests[serial] = (ticket, parked)
            let id = "test-\(String(decoding: ids.next(), as: UTF8.self))"
            context.service.test(
                WebhookTest(
                    event: WebhookEvents.test(id, of: ticket.view), webhook: Array(definition[webhook])
                ) { inbox.post(.webhookTest(ticket: serial, $0)) })
        }
    }

    /// Answers a test that has ended; it counts also where the client has disconnected meanwhile.
    func webhookTestEnded(_ serial: UInt64, _ end: WebhookTestEnd) {
        guard let (ticket, parked) = webhookTests.removeValue(forKey: serial) else { return }
        ticket.outcome =
            switch end {
            case .answered(let status, let milliseconds):
                Self.tested(status, (200...299).contains(status) ? nil : "status", milliseconds)
            case .failed(let failure, let milliseconds): Self.tested(nil, failure.cause, milliseconds)
            case .busy: .problem(.tooManyTests)
            case .stopping: .problem(.stopping)
            case .unreadable: .problem(Problem(.internalError, "the timer's webhook can't be read"))
            }
        Renderer.render(ticket)
        note(ticket)
        parked.response = ticket.exchange.response
        ticket.releaseMemory()
        parked.send()
    }

    private static func tested(_ status: Int?, _ error: StaticString?, _ milliseconds: Int64) -> Outcome {
        return .object { json in
            json.member("status", status.map { Int64($0) })
            json.member("error", text: error.map { "\($0)" })
            json.member("durationMs", milliseconds)
        }
    }
}
