/// Where timers are kept.
enum StoreKind: String, CaseIterable, Sendable {
    case sqlite, memory
}
