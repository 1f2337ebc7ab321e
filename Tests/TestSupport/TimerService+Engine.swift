import Platform
public import TimerService

extension TimerService {
    /// The engine of the first partition.
    public var engine: Engine { partitions.value.all[0].engine }
}
