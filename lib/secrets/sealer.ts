import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

/**
 * Where a secret is stored. The cipher authenticates the place, so a sealed value cannot be opened after it has been
 * copied to another place.
 */
export type SecretPlace = { table: string; row: string; column: string };

/** Encrypts ("seals") secrets for the database, and decrypts ("opens") them. */
export type Sealer = {
  /** Seals UTF-8 text into one printable line, with the current key. */
  seal: (place: SecretPlace, text: string) => string;
  /** Opens a sealed value. @throws if it was sealed with an unknown key or for another place, or was modified. */
  open: (place: SecretPlace, sealed: string) => string;
  /**
   * Hashes values with the current key, so that the hash reveals nothing about them. `use` separates the hashes of
   * different uses.
   */
  hash: (use: string, values: readonly (string | null)[]) => string;
  /** Every value that is sealed with the current key begins with this prefix. */
  currentPrefix: string;
};

/**
 * Values of this version have the form `v1.<nonce>.<tag>.<body>`. They name no key, so every configured key is tried.
 */
const VERSION_1 = "v1";
/** Values of this version have the form `v2.<key id>.<nonce>.<tag>.<body>`. */
const VERSION_2 = "v2";

/**
 * Creates a sealer that uses AES-256-GCM with a random nonce for each value. Source: `security.md`, What leaves the
 * service.
 *
 * @param current the key for sealing and opening; 32 bytes (`ENCRYPTION_KEY`).
 * @param previous further keys, only for opening (`ENCRYPTION_KEY_PREVIOUS`).
 */
export function createSealer(current: Uint8Array, previous: readonly Uint8Array[] = []): Sealer {
  const keys = new Map([current, ...previous].map((key) => [keyIdOf(key), key]));
  const currentId = keyIdOf(current);

  return {
    currentPrefix: `${VERSION_2}.${currentId}.`,
    hash: (use, values) =>
      createHmac("sha256", current)
        .update(JSON.stringify(["sealer/hash/v1", use, ...values]))
        .digest("base64url"),
    seal(place, text) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", current, nonce).setAAD(
        associate([VERSION_2, currentId], place),
      );
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      const parts = [nonce, cipher.getAuthTag(), body].map((part) => part.toString("base64url"));
      return [VERSION_2, currentId, ...parts].join(".");
    },
    open(place, sealed) {
      const [version, ...parts] = sealed.split(".");
      if (version === VERSION_2) {
        const [id = "", ...rest] = parts;
        const key = keys.get(id);
        if (!key) throw new Error(`sealed with the key ${id}, which is not configured`);
        return decrypt(key, associate([VERSION_2, id], place), rest);
      }
      if (version !== VERSION_1) throw new Error("not a sealed value");
      return openWithAny([...keys.values()], (key) => decrypt(key, associate([VERSION_1], place), parts));
    },
  };
}

/** Derives the id of a key by HMAC, so that the id reveals nothing about the key. */
function keyIdOf(key: Uint8Array): string {
  if (key.byteLength !== 32) throw new Error("the encryption key must be 32 bytes");
  return createHmac("sha256", key).update("sealer/key-id/v1").digest("hex").slice(0, 16);
}

const associate = (format: string[], place: SecretPlace): Buffer =>
  Buffer.from(JSON.stringify([...format, place.table, place.row, place.column]));

function decrypt(key: Uint8Array, associated: Buffer, parts: string[]): string {
  const [nonce, tag, body] = parts.map((part) => Buffer.from(part, "base64url"));
  if (!nonce || !tag || !body) throw new Error("not a sealed value");
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: 16 })
    .setAAD(associated)
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
}

/**
 * Tries the keys in order and returns the result of the first key that opens the value.
 * @throws the error of the last key if no key opens the value.
 */
function openWithAny([key, ...others]: Uint8Array[], open: (key: Uint8Array) => string): string {
  if (!key) throw new Error("no key fits the sealed value");
  if (others.length === 0) return open(key);
  try {
    return open(key);
  } catch {
    return openWithAny(others, open);
  }
}
