import { createHash } from "node:crypto";
import type { RunningService } from "#e2e/fixtures/service.ts";
import type { Publication } from "#lib/events/event.ts";
import type { RecordedLine } from "../recorder/log-line.ts";
import type {
  Acknowledged,
  Deletion,
  LoadedScript,
  PublicationChange,
  PublicationReading,
} from "./evidence.ts";
import type { Random } from "./random.ts";

/** The content that the script URL without a release number serves while the variant is not published. */
const EMPTY = "/* This variant is not published. */\n";

/** Creates a client that publishes, rolls back and unpublishes variants, and loads their scripts without an API key. */
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

  /** Sends a request. @returns undefined if no answer arrived. */
  async function ask(method: string, path: string, body?: unknown) {
    try {
      const answer = await service().call(method, path, body);
      return { status: answer.status, text: await answer.text() };
    } catch {
      return undefined;
    }
  }

  /**
   * Returns the path for a change, either below the session or below the publication. After the session is deleted,
   * only the path below the publication works.
   */
  function pathOf({ variant, wanted }: PublicationChange): string {
    const operation = typeof wanted === "string" ? wanted : "rollback";
    const publication = readings.at(-1)?.publications.find((each) => each.variant === variant);
    const session = acknowledged.find(({ nonce }) => nonce === variant);
    const isByPublication =
      publication !== undefined && (!session || (wanted !== "publish" && random.next() < 0.5));
    return isByPublication
      ? `/api/publications/${publication.id}/${operation}`
      : `/api/sessions/${session?.sessionId}/variants/${variant}/${operation}`;
  }

  async function change(variant: string, wanted: PublicationChange["wanted"]): Promise<void> {
    const requested: PublicationChange = { variant, wanted };
    changes.push(requested);
    const body = { publish: { unchecked: random.next() < 0.5 }, unpublish: undefined };
    const path = pathOf(requested);
    const answer = await ask(
      "POST",
      path,
      typeof wanted === "string" ? body[wanted] : { release: wanted.rollback },
    );
    if (!answer) return;
    if (answer.status >= 300) return void problems.push(`${path} answered ${answer.status}: ${answer.text}`);
    const { publication } = JSON.parse(answer.text) as { publication: Publication | null };
    requested.release = publication?.number ?? null;
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

  /** Loads all scripts of a publication: from the URL without a release number, and from the URL of each release. */
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
    /** Requests a change of a publication. Does not repeat the request if it gets no answer. */
    change,
    /** Repeats the last change if it got no 2xx answer. */
    async retryUnanswered() {
      const last = changes.at(-1);
      if (last && last.release === undefined) await change(last.variant, last.wanted);
    },
    /** Records all publications that the API lists, with their scripts. */
    async read() {
      const list = await service().read<{ data: PublicationReading["publications"] }>(
        "/api/publications?limit=100",
      );
      const scripts = await Promise.all(list.data.map(({ id }) => loadAll(id)));
      readings.push({ changeCount: changes.length, publications: list.data, scripts: scripts.flat() });
    },
    /**
     * Deletes a session. Forgets its acknowledged messages, because the invariants do not apply to a deleted session.
     */
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
    /** Whether a line of the recorder's log is a model call of a session that was deleted. */
    isOfDeleted: (line: RecordedLine): boolean =>
      line.type === "model" && deletions.some(({ nonces }) => nonces.includes(line.nonce)),
  };
}
