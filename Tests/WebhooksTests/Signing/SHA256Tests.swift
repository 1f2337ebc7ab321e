import Testing

@testable import Webhooks

struct SHA256Tests {
    // FIPS 180-4's examples, and the empty text.
    @Test(arguments: [
        "": "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "abc": "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=",
    ])
    func `the standard's vectors`(text: String, hash: String) {
        #expect(SHA256.base64(of: text.utf8) == hash)
    }
}
