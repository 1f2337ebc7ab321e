import HTTPServer
import TimerCore

/// The checks on a request's head: path, token, origin and method. Only a request that passes them is read.
extension TimerHandler {
    /// Finds the route, then checks token, origin and method in the contract's order.
    func route(_ ticket: Ticket) throws(Problem) {
        let exchange = ticket.exchange
        ticket.parameter.removeAll(keepingCapacity: true)
        ticket.route = .dashboard
        ticket.isRouted = false
        if exchange.target == [UInt8(ascii: "*")] {
            try gate.authenticate(exchange, nil)
            return try gate.checkOrigin(exchange, nil)
        }
        var match = RouteMatch.unknown
        var malformed: Problem?
        do throws(Target.Malformed) {
            try ticket.target.read(exchange.target)
            match = Routing.match(ticket.target.parts)
        } catch {
            malformed = Problem(.invalidRequest, error.detail)
        }
        var route: Route?
        if case .route(let known, let parameter) = match {
            route = known
            ticket.route = known
            ticket.isRouted = true
            ticket.parameter.append(contentsOf: parameter)
        }
        try gate.authenticate(exchange, route)
        try gate.checkOrigin(exchange, route)
        if let malformed { throw malformed }
        switch match {
        case .route(.problem, let slug) where ProblemKind(slug: Array(slug)) == nil:
            throw Problem(.notFound, "nothing is at this path")
        case .route(let route, _):
            try checkMethod(exchange, route)
        case .unknownCommand(_, let word):
            throw Self.unknownCommand(word)
        case .unknownAction:
            throw Problem(.notFound, "bulk takes \(BulkAction.names.joined(separator: ", "))")
        case .unknown:
            throw Problem(.notFound, "nothing is at this path")
        }
    }

    private func checkMethod(_ exchange: Exchange, _ route: Route) throws(Problem) {
        let method = exchange.method == .head ? .get : exchange.method
        if method == .options || route.methods.contains(method) { return }
        var problem = Problem(.methodNotAllowed, "this path takes \(route.allow)")
        problem.allow = route.allow
        throw problem
    }

    private static func unknownCommand(_ word: ArraySlice<UInt8>) -> Problem {
        let name = String(decoding: word, as: UTF8.self)
        var problem = Problem(.notFound, "there is no command `\(name)`")
        problem.commands = TimerCommand.allCases
        problem.didYouMean = MistakenWord.command(meantBy: name).map { "\($0.name)" }
        return problem
    }
}
