import TimerLog

extension Failure {
    /// What a store's error means for the program: a full or failing device may get better, the rest does not.
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
