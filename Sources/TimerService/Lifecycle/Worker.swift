/// A part of the service that works on threads of its own.
protocol Worker: AnyObject, Sendable {
    /// The name of the worker's threads.
    var name: String { get }
    /// The number of threads that run the worker.
    var threadCount: Int { get }
    /// Does what is needed before the worker's threads start. Called once.
    func prepare()
    /// Works until `stop`. The body of each thread.
    func run()
    /// Begins nothing new, and waits up to `seconds` for the work under way. Not called on the worker's own threads.
    func drain(seconds: Double)
    /// Makes the worker's threads end soon.
    func stop()
}

extension Worker {
    /// One thread.
    var threadCount: Int { 1 }
    /// Does nothing.
    func prepare() {}
    /// Does nothing: the work under way is short.
    func drain(seconds: Double) {}
}
