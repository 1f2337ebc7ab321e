/// The spellings that an IANA name may have if only upper and lower case are wrong.
///
/// Names are written by a few habits, so that no list of all of them is needed: capitals alone (`UTC`, `EST5EDT`),
/// or each word with one capital, but for small words in the middle (`Africa/Dar_es_Salaam`) and a few irregular
/// ones.
enum ZoneSpelling {
    /// Returns the spellings to look up, the likeliest first.
    static func candidates(_ name: String) -> [String] {
        let lower = name.lowercased()
        // `US/Eastern` and `Brazil/DeNoronha` mix both habits, a part each.
        let parts = lower.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let capitalized = parts.map(spelled)
        var mixed = capitalized
        mixed[0] = mixed[0].uppercased()
        var capitals = capitalized
        capitals[capitals.count - 1] = parts[parts.count - 1].uppercased()
        return [capitalized, [lower.uppercased()], mixed, capitals].map { $0.joined(separator: "/") }
    }

    private static func spelled(_ part: String) -> String {
        if let irregular = irregulars[part] { return irregular }
        var result = ""
        var word = ""
        for character in part + "/" {
            if character.isLetter {
                word.append(character)
                continue
            }
            let isSmall = !result.isEmpty && character != "/" && smallWords.contains(word)
            result += isSmall ? word : word.prefix(1).uppercased() + word.dropFirst()
            word = ""
            if character != "/" { result.append(character) }
        }
        return result
    }

    private static let smallWords: Set = ["au", "es", "of"]

    /// Parts of names that follow no habit.
    private static let irregulars = [
        "comodrivadavia": "ComodRivadavia", "dumontdurville": "DumontDUrville", "mcmurdo": "McMurdo",
        "bajanorte": "BajaNorte", "bajasur": "BajaSur", "easterisland": "EasterIsland", "denoronha": "DeNoronha",
        "gb-eire": "GB-Eire", "nz-chat": "NZ-CHAT", "w-su": "W-SU", "knox_in": "Knox_IN",
    ]
}
