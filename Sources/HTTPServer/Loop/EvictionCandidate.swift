/// A socket that may be closed for a newcomer, and since when it has been as it was listed.
enum EvictionCandidate {
    case connection(Exchange, since: Int64)
    case socket(DetachedSocket)
}
