/// A part of the service that works on threads of its own.
protocol Worker: AnyObject, Sendable {
    /// Names its threads.
    var name: String { get }
    /// How many threads run it.
    var threadCount: Int { get }
    /// What is to be done before its threads start. Called once.
    func prepare()
    /// Works until `stop`. The body of each thread.
    func run()
    /// Begins nothing new, and waits up to `seconds` for what is under way. Not from its own threads.
    func drain(seconds: Double)
    /// Has its threads end soon.
    func stop()
}

extension Worker {
    /// One thread.
    var threadCount: Int { 1 }
    /// Nothing.
    func prepare() {}
    /// Nothing: what is under way is short.
    func drain(seconds: Double) {}
}
