import HTTPServer
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// Answers that wait for other threads, and are parked meanwhile: tests of webhooks, which take as long as the receiver
/// does, up to the webhook's timeout, and hand-overs.
extension TimerHandler {
    /// Sends a test event to the webhook of the timer in the ticket's view, which is durable.
    func testWebhook(_ ticket: Ticket) {
        let definition = ticket.view.definition
        guard let webhook = Definition.layout(definition.span)?.webhook else {
            return respond(ticket, with: .noWebhook(timer: ticket.parameter))
        }
        guard park(ticket) else { return }
        let id = "test-\(String(decoding: ids.next(), as: UTF8.self))"
        context.service.test(
            WebhookTest(event: WebhookEvents.test(id, of: ticket.view), webhook: Array(definition[webhook])) {
                [serial = ticket.serial, inbox] in inbox.post(.webhookTest(ticket: serial, $0))
            })
    }

    /// Hands the log over to the server at `url`; nil: to the one that has read most of it.
    func handOver(to url: String?, _ ticket: Ticket) {
        guard let place = context.service.place else {
            return respond(ticket, with: .noSuccessor(.nobodyFit, url: url))
        }
        guard park(ticket) else { return }
        place.handOver(to: url) { [serial = ticket.serial, inbox] in inbox.post(.handOver(ticket: serial, $0)) }
    }

    /// Parks the answer of a request. Returns false where the request was refused instead.
    private func park(_ ticket: Ticket) -> Bool {
        guard let answer = ticket.answer.take() else { return false }
        switch answer.park() {
        case .refused(let answer, let reason):
            refuseStream(answer, reason, ticket)
            return false
        case .parked(let answer):
            parked[ticket.serial] = (ticket, answer)
            return true
        }
    }

    /// Answers a parked request; the outcome counts also where the client has disconnected meanwhile.
    func answerParked(_ serial: UInt64, _ outcome: (Ticket) -> Outcome) {
        guard let (ticket, answer) = parked.removeValue(forKey: serial) else { return }
        ticket.outcome = outcome(ticket)
        Renderer.render(ticket)
        note(ticket)
        answer.response = ticket.exchange.response
        ticket.releaseMemory()
        answer.send()
    }

    static func outcome(of end: WebhookTestEnd) -> Outcome {
        switch end {
        case .answered(let status, let milliseconds):
            tested(status, (200...299).contains(status) ? nil : "status", milliseconds)
        case .failed(let failure, let milliseconds): tested(nil, failure.cause, milliseconds)
        case .busy: .problem(.tooManyTests)
        case .stopping: .problem(.stopping)
        case .unreadable: .problem(Problem(.internalError, "the timer's webhook can't be read"))
        }
    }

    private static func tested(_ status: Int?, _ error: StaticString?, _ milliseconds: Int64) -> Outcome {
        .object { json in
            json.member("status", status.map { Int64($0) })
            json.member("error", text: error.map { "\($0)" })
            json.member("durationMs", milliseconds)
        }
    }

    /// Returns the answer to a hand-over that was asked for by `ticket`: the cluster as it is now, or a refusal.
    func outcome(of end: HandOverOutcome, _ ticket: Ticket) -> Outcome {
        switch end {
        case .handedOver, .refused(.isOwner):
            .page(status: 200, type: "application/json", ClusterJSON.text(context.service))
        case .refused(let refusal):
            if case .handOver(let url) = ticket.outcome {
                .problem(.noSuccessor(refusal, url: url))
            } else {
                .problem(.noSuccessor(refusal, url: nil))
            }
        case .failed: .problem(.handOverUnknown)
        }
    }
}
