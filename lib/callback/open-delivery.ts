import { CALLBACK_SECRET, CALLBACK_URL } from "#lib/session/secrets/secret-names.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import type { DeliveryToMake } from "./delivery-store.ts";
import { openCallbackValue, openPrevious } from "./secret/open-secrets.ts";
import type { Exchange } from "./send-callback.ts";

/** The decrypted URL and secrets of a delivery. */
export type Opened = { ok: true; url: URL; secret: string | null; previousSecret: string | null };

/**
 * Decrypts the URL and secrets of a delivery, or refuses to send it. A refusal counts as a failed attempt.
 *
 * @throws Error if the session has no callback URL.
 */
export function openDelivery(
  { sealer, refuseHttp }: Pick<DeliveryDeps, "sealer" | "refuseHttp">,
  { row, callbackSessionId, url: storedUrl, sealed }: DeliveryToMake,
  now: Date,
): Opened | { ok: false; exchange: Exchange } {
  if (storedUrl === null) throw new Error(`${row.id}: its session has no callback URL`);
  const open = (name: string) => openCallbackValue(sealer, callbackSessionId, name, sealed ?? {});
  let secret: string | null;
  let urlText: string;
  let sealedPart = "secret";
  try {
    secret = open(CALLBACK_SECRET) ?? null;
    sealedPart = "URL";
    urlText = open(CALLBACK_URL) ?? storedUrl;
  } catch {
    // The secret or the URL cannot be decrypted. The callback is not sent without a signature, because the receiver
    // would treat it as a forgery.
    return refuse(`the callback ${sealedPart} cannot be read with this ENCRYPTION_KEY`);
  }
  const url = new URL(urlText);
  const refusal = refuseHttp?.(url);
  if (refusal !== undefined) return refuse(`the callback URL ${refusal}`);
  const previous = openPrevious(sealer, callbackSessionId, sealed ?? {}, now);
  return { ok: true, url, secret, previousSecret: previous?.secret ?? null };
}

/** A failed attempt for which this service is responsible, not the receiver. */
const refuse = (error: string): { ok: false; exchange: Exchange } => ({
  ok: false,
  exchange: { status: null, error, latencyMs: 0, excerpt: null, isOurs: true },
});
