import Platform
public import TimerService

extension TimerService {
    /// The engine of the log, which this process owns.
    public var engine: Engine {
        guard let active = log.value else { preconditionFailure("the service owns the log") }
        return active.engine
    }
}
