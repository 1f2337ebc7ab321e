package import HTTPServer
import Platform

/// Fills and sends answers: refusals at the head of a request, and outcomes.
extension TimerHandler {
    /// Fills the response of a request that is refused at its head.
    func refuse(_ problem: Problem, _ ticket: Ticket) {
        ticket.exchange.response.reset()
        ticket.exchange.response.add("Request-Id", ticket.requestID)
        if let allow = problem.allow { ticket.exchange.response.add("Allow", allow) }
        if problem.kind == .unauthorized && HTMLPage.isDashboardWanted(by: ticket.exchange) {
            context.dashboard.fillUnauthorized(ticket.exchange)
        } else {
            Renderer.fill(problem, ticket)
        }
        note(ticket)
    }

    package func renderRefusal(_ refusal: Refusal, into exchange: Exchange) {
        if case .internalError = refusal {
            // The exchange's ticket may not be used: its answer is being destroyed.
            let requestID = ids.next()
            exchange.response.reset()
            exchange.response.add("Request-Id", requestID)
            return Renderer.fill(Problem(refusal), exchange, requestID: requestID)
        }
        refuse(Problem(refusal), ticket(for: exchange))
    }

    func answerOptions(_ ticket: Ticket) {
        ticket.exchange.response.reset()
        ticket.exchange.response.status = 204
        ticket.exchange.response.add("Request-Id", ticket.requestID)
        let isWhole = ticket.exchange.target == [UInt8(ascii: "*")]
        ticket.exchange.response.add(
            "Allow", isWhole ? "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" : ticket.route.allow)
        send(ticket)
    }

    /// Answers a ticket whose outcome is final, or first reads from the store what the outcome needs.
    func respond(_ ticket: Ticket) {
        switch ticket.outcome {
        case .stream(let plan): beginStream(plan, ticket)
        case .needsEvents(let reading): readEvents(reading, ticket)
        case .replay(let positions): readStoredAnswer(at: positions, ticket)
        default:
            Renderer.render(ticket)
            send(ticket)
        }
    }

    /// Sends the response, or a refusal in its place if there is no memory for it and nothing was changed.
    func send(_ ticket: Ticket) {
        guard let answer = ticket.answer.take() else { return }
        if !ticket.exchange.reserveAnswer(ticket.exchange.response.body.count), ticket.mayBeRefused {
            ticket.exchange.response.reset()
            ticket.exchange.response.add("Request-Id", ticket.requestID)
            Renderer.fill(.tooManyAnswers, ticket)
        }
        ticket.releaseMemory()
        note(ticket)
        answer.send()
    }

    /// Counts and logs an answer.
    package func note(_ ticket: Ticket) {
        let exchange = ticket.exchange
        metrics.count(
            ticket.isRouted ? ticket.route : nil, exchange.method, exchange.response.status, seconds: exchange.seconds)
        if access.value.logsRequests { context.configuration.accessLog?(AccessRecord(ticket)) }
    }
}
