import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Task } from "./task.ts";

/**
 * The characters of all model calls of a task, as JSON without the bytes of pictures. `fixedChars` are those of
 * instructions and tools, which are sent with each call.
 */
export type CallCharacters = { fixedChars: number; totalChars: number };

export type CharacterCount = {
  /** Counts the body of a model call. */
  add: (body: Record<string, unknown>) => void;
  of: (task: Task) => CallCharacters;
};

/** Counts characters by task. The address of a task's page, which every call contains, tells the task. */
export function createCharacterCount(tasks: readonly Task[]): CharacterCount {
  const counts = new Map<string, CallCharacters>();
  const of = ({ id }: Task) => counts.get(id) ?? { fixedChars: 0, totalChars: 0 };
  return {
    of,
    add(body) {
      const text = JSON.stringify(body, (_key, value: unknown) =>
        typeof value === "string" && value.startsWith("data:") ? "" : value,
      );
      const task = tasks.find(({ id }) => text.includes(`/${id}/`));
      if (!task) return;
      const { fixedChars, totalChars } = of(task);
      counts.set(task.id, {
        fixedChars: fixedChars + countFixed(body),
        totalChars: totalChars + text.length,
      });
    },
  };
}

/** The instructions and tools of a call, in the form of Responses or of Chat Completions. */
function countFixed({ input, messages, tools }: Record<string, unknown>): number {
  const items = (Array.isArray(input) ? input : Array.isArray(messages) ? messages : []) as {
    role?: string;
  }[];
  const instructions = items.filter(({ role }) => role === "system" || role === "developer");
  return JSON.stringify([tools ?? [], instructions]).length;
}

/** Starts a server that counts the bodies of model calls and passes them on to `baseUrl`. */
export async function startCountingRelay(
  baseUrl: string,
  count: Pick<CharacterCount, "add">,
): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      if (body.length > 0) count.add(JSON.parse(body.toString()) as Record<string, unknown>);
      const { authorization = "", "content-type": type = "application/json" } = request.headers;
      const answer = await fetch(`${baseUrl}${request.url}`, {
        method: request.method ?? "POST",
        headers: { authorization, "content-type": type },
        ...(body.length > 0 && { body }),
      });
      response.writeHead(answer.status, {
        "content-type": answer.headers.get("content-type") ?? "application/json",
      });
      for await (const piece of answer.body ?? []) response.write(piece);
      response.end();
    } catch (error) {
      // The service sees a broken connection, as if the provider had ended it.
      response.destroy(error instanceof Error ? error : undefined);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
