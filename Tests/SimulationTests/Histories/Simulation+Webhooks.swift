import TestSupport
import TimerLog
import Webhooks

@testable import TimerCore
@testable import TimerService

/// Deliveries: the requests that are sent, the receivers' answers, and the outcomes.
extension Simulation {
    /// A request that a receiver has and has not answered.
    struct Exchange {
        var timer: String
        var life: Int
        var url: String
        var host: String
        /// 1 for the first attempt.
        var number: Int
        /// The webhook's policy when the attempt began.
        var retry: RetryPolicy
    }

    /// A receiver's behaviour.
    enum ReceiverAnswer {
        case status(Int, retryAfter: Int64?, command: String?)
        case none(DeliveryFailure)
    }

    /// Makes receivers answer, and the dispatcher's thread make a round.
    func deliver() throws {
        for id in exchanges.keys.sorted() where random.chance(oneIn: 2) && !ends.contains(where: { $0.id == id }) {
            guard let exchange = exchanges[id] else { continue }
            let answer = makeAnswer()
            note("\(id) of \(exchange.timer) gets \(answer)")
            ends.append((id, exchange, answer))
            var result = CourierResult(serial: UInt64(bitPattern: id), startedAt: 0, endedAt: 0)
            switch answer {
            case .status(let status, let retryAfter, let command):
                result.status = status
                result.retryAfter = retryAfter.map { Array("\($0 / 1000)".utf8) }
                result.timerCommand = command.map { Array($0.utf8) }
            case .none(let failure): result.failure = failure
            }
            server.courier.finish(result)
        }
        try dispatch()
    }

    private func makeAnswer() -> ReceiverAnswer {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9: return .status(200, retryAfter: nil, command: nil)
        case 9..<12:
            let delay = RandomRules.delay(&random)
            let commands = ["cancel", "suspend", "reschedule=\(delay)ms", "Reschedule = 2s", "restart"]
            return .status(204, retryAfter: nil, command: commands.randomElement(using: &random))
        case 12..<14: return .status(500, retryAfter: nil, command: "cancel")
        case 14..<16: return .status(429, retryAfter: Int64.random(in: 0...30, using: &random) * 1000, command: nil)
        case 16: return .status(410, retryAfter: nil, command: nil)
        default: return .none(DeliveryFailure.allCases.randomElement(using: &random) ?? .timedOut)
        }
    }

    /// Makes one round of the dispatcher's thread, where it has something to do.
    func dispatch() throws {
        // A stop ends the deliveries before it refuses changes.
        guard !server.engine.isStopping, server.dispatcher.hasWork || !ends.isEmpty else { return }
        try drain()
        // The dispatcher checks again after a while whether ended attempts can be recorded.
        if !ends.isEmpty { server.dispatcher.wake() }
        for end in ends { exchanges[end.id] = nil }
        let unreadable = server.unreadableDeliveries
        server.dispatcher.step()
        try takeEnds()
        if server.unreadableDeliveries > unreadable { try postpone() }
    }

    /// Postpones a delivery whose event could not be read, as it was just written again and is not on disk there yet.
    private func postpone() throws {
        let engine = server.engine
        try promise(isDoomed || engine.durableHead < engine.batch.head, "the event of a delivery can't be read")
        let now = server.now()
        for (id, detail) in Self.deliveries(engine.scheduler, now) where detail.state == .waiting {
            guard case .pending(let from)? = model.deliveries[id]?.phase, from <= now.down(.continuous) else {
                continue
            }
            model.deliveries[id]?.phase = .pending(from: detail.due - now.wallOffset)
        }
    }

    /// Takes the requests of the dispatcher, which has recorded the ended attempts before.
    func send(_ requests: [CourierRequest]) throws {
        try takeEnds()
        for request in requests { try send(request) }
    }

    private func send(_ request: CourierRequest) throws {
        let id = Int64(bitPattern: request.serial)
        guard let delivery = model.deliveries[id], case .pending(let from) = delivery.phase else {
            throw BrokenPromise("\(id) is sent, of which is known \(model.deliveries[id].map { "\($0)" } ?? "nothing")")
        }
        let now = server.now()
        let name = "delivery \(id) of \(delivery.timer)"
        try promise(!isDoomed && server.isOpen, "\(name) is sent while storage fails")
        try promise(from <= now.down(.continuous) || delivery.isAdrift, "\(name) is sent before \(from), at \(now)")
        try promise(audit.holds(id) && id <= server.engine.durableHead, "\(name) is sent and not on disk")
        try promise(durable.deliveries[id].map { !$0.isDead } ?? false, "\(name) is sent, which no log says")
        try checkTurn(delivery, name)
        guard let timer = model.timers[delivery.timer], let webhook = timer.webhook,
            model.lives[delivery.timer] == delivery.life
        else { throw BrokenPromise("\(name) is sent for a timer without webhook") }
        try promise(!timer.progress.flags.contains(.webhookStopped), "\(name) is sent after 410")
        try promise(request.url == webhook.url, "\(name) goes to \(request.url), not \(webhook.url)")
        try promise(durable.timers[delivery.timer]?.webhook == webhook, "\(name) goes by a webhook that is not on disk")
        let names = request.headers.filter { $0.name.lowercased() == "webhook-id" }.map(\.value)
        try promise(names == [String(id)], "\(name) is called \(names)")
        try promise(
            request.body == delivery.body,
            "\(name) says \(request.body.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")")
        let host = Self.host(of: webhook.url)
        try promise(exchanges.values.count { $0.host == host } < Server.perHost, "\(host) gets too many at once")
        exchanges[id] = Exchange(
            timer: delivery.timer, life: delivery.life, url: webhook.url, host: host, number: delivery.attempts + 1,
            retry: webhook.retry)
        model.deliveries[id]?.phase = .underWay
        model.lateResults.remove(id)
        if delivery.isRedriven { reached.insert(.redelivery) }
        note("\(name) is sent")
    }

    /// Checks that a timer's deliveries go one by one, in order, each once the outcome of the one before is on disk.
    private func checkTurn(_ delivery: ModelDelivery, _ name: String) throws {
        let other = exchanges.first { id, exchange in
            exchange.timer == delivery.timer && exchange.life == delivery.life
                && model.deliveries[id].map { !$0.isDead } ?? false
        }
        try promise(other == nil, "\(name) is sent beside \(other?.key ?? 0)")
        try promise(exchanges[delivery.id] == nil, "\(name) is sent twice at once")
        guard !delivery.isRedriven else { return }
        for place in [model, durable] {
            let earlier = place.deliveries.values.first {
                $0.timer == delivery.timer && $0.life == delivery.life && !$0.isDead && !$0.isRedriven
                    && $0.id < delivery.id
            }
            try promise(earlier == nil, "\(name) is sent before \(earlier?.id ?? 0)")
        }
    }

    static func host(of url: String) -> String { url.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    /// Compares the dispatcher's records of ended attempts with the model's.
    private func takeEnds() throws {
        var found = try unseen()[...]
        if server.isOpen {
            for end in ends { try takeEnd(end.id, end.exchange, end.answer, &found) }
            ends = []
        }
        try promise(found.isEmpty, "the dispatcher records \(found)")
    }

    private func takeEnd(
        _ id: Int64, _ exchange: Exchange, _ answer: ReceiverAnswer, _ found: inout ArraySlice<Recorded>
    ) throws {
        let isLate = model.lateResults.remove(id) != nil
        guard let delivery = model.deliveries[id], !delivery.isDead else { return }
        if delivery.phase != .underWay {
            try promise(isLate, "delivery \(id) is not under way")
            // The log was folded again meanwhile: the result counts, or the delivery is sent again.
            guard let outcome = found.first?.outcome, outcome.delivery == id, outcome.reason != .backlog else { return }
            reached.insert(.lateResult)
        }
        let now = server.now()
        guard let record = found.popFirst(), let outcome = record.outcome, outcome.delivery == id else {
            throw BrokenPromise("nothing is recorded of \(answer) to delivery \(id) of \(exchange.timer)")
        }
        try check(outcome, exchange, answer, now)
        model.settle(outcome, now)
        guard case .status(_, _, let command?) = answer, outcome.type == .delivered,
            let header = TimerCommandHeader(Array(command.utf8)), let timer = model.timers[exchange.timer]
        else { return }
        var step = ModelStep(timer, now, uptime: uptime)
        guard step.obey(header) == nil else { return }
        reached.insert(.receiverCommand)
        try accept(step, &found)
    }

    /// Checks the result of an attempt against the contract.
    private func check(_ outcome: DeliveryOutcome, _ exchange: Exchange, _ answer: ReceiverAnswer, _ now: Now) throws {
        var expected = DeliveryOutcome(.deliveryFailed, delivery: outcome.delivery, attempt: exchange.number)
        let retry = exchange.retry
        var shortest = Double(retry.initialMs)
        for _ in 1..<exchange.number { shortest *= retry.multiplier }
        shortest = min(shortest, Double(retry.maxMs))
        var longest = shortest * (1 + retry.jitter) + 1
        shortest = shortest * (1 - retry.jitter) - 1
        switch answer {
        case .none(let failure): expected.failure = failure
        case .status(let status, let retryAfter, _):
            expected.status = status
            if let retryAfter {
                shortest = Double(retryAfter)
                longest = Double(max(retryAfter, retry.initialMs)) * (1 + retry.jitter) + 1
            }
            if (200..<300).contains(status) { expected.type = .delivered }
            if status == 410 {
                // A receiver can't stop a webhook that has another URL by now.
                let isMine = model.timers[exchange.timer].map { $0.webhook?.url == exchange.url } ?? true
                if isMine || model.lives[exchange.timer] != exchange.life {
                    (expected.type, expected.reason) = (.deliveryDead, .gone)
                } else {
                    expected.retryAt = outcome.retryAt
                    return try promise(
                        outcome == expected && outcome.retryAt == now.up(.wall), "\(answer) came to \(outcome)")
                }
            }
        }
        if expected.type == .deliveryFailed && exchange.number >= retry.maxAttempts {
            (expected.type, expected.reason) = (.deliveryDead, .attempts)
        }
        expected.retryAt = expected.type == .deliveryFailed ? outcome.retryAt : 0
        try promise(outcome == expected, "\(answer) came to \(outcome), not \(expected)")
        guard expected.type == .deliveryFailed else { return }
        let wait = Double(outcome.retryAt - now.up(.wall))
        try promise(
            wait >= shortest && wait <= longest, "\(outcome) is tried after \(wait), not \(shortest)…\(longest)")
    }

    /// Owes the recorded event to the webhook of the step's timer; deliveries over the limit then die.
    func owe(_ recorded: Recorded, _ step: ModelStep, _ found: inout ArraySlice<Recorded>) throws {
        let id = step.timer.id
        let body = ModelDelivery.body(
            recorded.position, recorded.event.type, recorded.event.progress, step.timer.prefix)
        model.deliveries[recorded.position] = ModelDelivery(
            id: recorded.position, timer: id, life: model.lives[id] ?? 0, body: body)
        while case let surplus = model.surplus(), !surplus.isEmpty {
            guard let outcome = found.popFirst()?.outcome, surplus.contains(outcome.delivery) else {
                throw BrokenPromise("one of \(surplus) is too many, and lives on")
            }
            var expected = DeliveryOutcome(.deliveryDead, delivery: outcome.delivery, attempt: 0)
            expected.attempt = model.deliveries[outcome.delivery]?.attempts ?? 0
            expected.reason = .backlog
            try promise(outcome == expected, "one too many came to \(outcome), not \(expected)")
            model.bury(outcome.delivery, outcome, step.now)
        }
    }
}
