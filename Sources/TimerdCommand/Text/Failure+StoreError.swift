import TimerLog

extension Failure {
    /// Makes the failure of a store's error. A full or failing device, an unreachable database and a taken-over
    /// log may get better and are `other`; the rest is `unusable`.
    init(_ error: StoreError, directory: String) {
        let code: Code =
            switch error.kind {
            case .full, .io, .unavailable, .fenced: .other
            case .damaged, .inUse, .unusable, .lost: .unusable
            }
        // The reader of the line may run several servers.
        let place = error.description.contains(directory) ? "" : "\(directory): "
        self.init(code, place + error.description)
    }
}
