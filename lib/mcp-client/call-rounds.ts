import type { Database } from "#db/client.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { nameMcpRound, placeSecret } from "#lib/session/secrets/secret-names.ts";
import { readSealedSecrets, removeSealedSecret, storeSealedSecret } from "#lib/session/store/secret-store.ts";

type CallKey = { sessionId: string; runId: string; callId: string };

/**
 * What tool servers need to continue calls that wait for a person, as text. It survives the process, and is encrypted at
 * rest. Source: decision 153.
 */
export type CallRounds = {
  read: (call: CallKey) => Promise<string | undefined>;
  store: (call: CallKey, round: string) => Promise<void>;
  remove: (call: CallKey) => Promise<void>;
};

/** @see CallRounds */
export const createCallRounds = ({ db, sealer }: { db: Database; sealer: Sealer }): CallRounds => ({
  async read({ sessionId, runId, callId }) {
    const name = nameMcpRound(runId, callId);
    const sealed = (await readSealedSecrets(db, sessionId, [name])).get(name);
    return sealed === undefined ? undefined : sealer.open(placeSecret(sessionId, name), sealed);
  },
  store({ sessionId, runId, callId }, round) {
    const name = nameMcpRound(runId, callId);
    const sealed = sealer.seal(placeSecret(sessionId, name), round);
    return storeSealedSecret(db, { sessionId, name, sealed });
  },
  remove: ({ sessionId, runId, callId }) => removeSealedSecret(db, sessionId, nameMcpRound(runId, callId)),
});
