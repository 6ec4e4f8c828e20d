import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Where a secret lies; bound to it as associated data, so that a sealed value cannot be moved elsewhere. */
export type SecretPlace = { table: string; row: string; column: string };

/** Seals secrets for the database, and opens them. */
export type Sealer = {
  /** Seals UTF-8 text into one printable line. */
  seal: (place: SecretPlace, text: string) => string;
  /** Opens what {@link Sealer.seal} made. @throws when the key, the place or a byte differs. */
  open: (place: SecretPlace, sealed: string) => string;
};

const VERSION = "v1";

/**
 * AES-256-GCM with a random nonce per value. Source: `security.md`, What leaves the service.
 *
 * @param key 32 bytes (`ENCRYPTION_KEY`).
 */
export function createSealer(key: Uint8Array): Sealer {
  if (key.byteLength !== 32) throw new Error("the encryption key must be 32 bytes");
  const associate = (place: SecretPlace) =>
    Buffer.from(JSON.stringify([VERSION, place.table, place.row, place.column]));
  return {
    seal(place, text) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associate(place));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return [VERSION, nonce, cipher.getAuthTag(), body]
        .map((part) => (typeof part === "string" ? part : part.toString("base64url")))
        .join(".");
    },
    open(place, sealed) {
      const [version, nonce, tag, body] = sealed.split(".");
      if (version !== VERSION || nonce === undefined || tag === undefined || body === undefined)
        throw new Error("not a sealed value");
      const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url"), {
        authTagLength: 16,
      })
        .setAAD(associate(place))
        .setAuthTag(Buffer.from(tag, "base64url"));
      return Buffer.concat([decipher.update(Buffer.from(body, "base64url")), decipher.final()]).toString(
        "utf8",
      );
    },
  };
}
