import { createHash } from "node:crypto";
import type { RunningService } from "#e2e/fixtures/service.ts";
import type { Publication } from "#lib/events/event.ts";
import type { OracleLine } from "../oracle/log-line.ts";
import type {
  Acknowledged,
  Deletion,
  LoadedScript,
  PublicationChange,
  PublicationReading,
} from "./evidence.ts";
import type { Random } from "./random.ts";

/** The body of the script of a publication that is not published. */
const EMPTY = "/* This variant is not published. */\n";

/** A client that publishes variants, rolls them back and unpublishes them, and visitors that load their scripts. */
export function createPublisher(deps: {
  service: () => RunningService;
  random: Random;
  acknowledged: Acknowledged[];
  problems: string[];
}) {
  const { service, random, acknowledged, problems } = deps;
  const changes: PublicationChange[] = [];
  const readings: PublicationReading[] = [];
  const deletions: Deletion[] = [];

  /** Sends a request. @returns undefined when no answer came. */
  async function ask(method: string, path: string, body?: unknown) {
    try {
      const answer = await service().call(method, path, body);
      return { status: answer.status, text: await answer.text() };
    } catch {
      return undefined;
    }
  }

  /** The address of a change: of the session, or of the publication, which is the only one after a deletion. */
  function pathOf({ variant, wanted }: PublicationChange): string {
    const operation = typeof wanted === "string" ? wanted : "rollback";
    const known = readings.at(-1)?.publications.find((each) => each.variant === variant);
    const session = acknowledged.find(({ nonce }) => nonce === variant);
    const isByOwner = known !== undefined && (!session || (wanted !== "publish" && random.next() < 0.5));
    return isByOwner
      ? `/api/publications/${known.id}/${operation}`
      : `/api/sessions/${session?.sessionId}/variants/${variant}/${operation}`;
  }

  async function change(variant: string, wanted: PublicationChange["wanted"]): Promise<void> {
    const asked: PublicationChange = { variant, wanted };
    changes.push(asked);
    const body = { publish: { unchecked: random.next() < 0.5 }, unpublish: undefined };
    const path = pathOf(asked);
    const answer = await ask(
      "POST",
      path,
      typeof wanted === "string" ? body[wanted] : { release: wanted.rollback },
    );
    if (!answer) return;
    if (answer.status >= 300) return void problems.push(`${path} answered ${answer.status}: ${answer.text}`);
    const { publication } = JSON.parse(answer.text) as { publication: Publication | null };
    asked.release = publication?.number ?? null;
  }

  async function load(publicationId: string, pinned: number | null): Promise<LoadedScript> {
    const file = pinned === null ? publicationId : `${publicationId}@${pinned}`;
    const answer = await service().call("GET", `/v/${file}.js`, undefined, { authorization: "" });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return {
      publicationId,
      pinned,
      status: answer.status,
      integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}`,
      isEmpty: bytes.toString() === EMPTY,
    };
  }

  /** Loads the scripts of a publication: the moving one, and those of its releases. */
  async function loadAll(publicationId: string): Promise<LoadedScript[]> {
    const scripts = [await load(publicationId, null)];
    for (let number = 1; ; number++) {
      const script = await load(publicationId, number);
      if (script.status === 404) return scripts;
      scripts.push(script);
    }
  }

  return {
    record: { changes, readings, deletions },
    /** Asks for a change once. */
    change,
    /** Asks again for the last change if no answer came. */
    async askAgain() {
      const last = changes.at(-1);
      if (last && last.release === undefined) await change(last.variant, last.wanted);
    },
    /** Notes what the interface tells of all publications, and loads their scripts. */
    async read() {
      const list = await service().read<{ data: PublicationReading["publications"] }>(
        "/api/publications?limit=100",
      );
      const scripts = await Promise.all(list.data.map(({ id }) => loadAll(id)));
      readings.push({ changeCount: changes.length, publications: list.data, scripts: scripts.flat() });
    },
    /** Deletes a session. What was promised about its messages ends with it. */
    async remove(sessionId: string) {
      const own = acknowledged.filter((one) => one.sessionId === sessionId);
      const nonces = own.map(({ nonce }) => nonce);
      const deletion: Deletion = { sessionId, nonces, readingCount: readings.length };
      deletions.push(deletion);
      for (const one of own) acknowledged.splice(acknowledged.indexOf(one), 1);
      const path = `/api/sessions/${sessionId}`;
      const answer = await ask("DELETE", path);
      if (!answer) return;
      if (answer.status !== 200) problems.push(`${path} answered ${answer.status}: ${answer.text}`);
      const { publications = [] } = JSON.parse(answer.text) as { publications?: { id: string }[] };
      deletion.publicationIds = publications.map(({ id }) => id);
    },
    /** Whether a model call was made for a session that was deleted since. */
    isOfDeleted: (line: OracleLine): boolean =>
      line.type === "model" && deletions.some(({ nonces }) => nonces.includes(line.nonce)),
  };
}
