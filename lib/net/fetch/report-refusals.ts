import { toGuardedFetchError } from "./guarded-fetch-error.ts";

/** Wraps a guarded fetch so that each refusal is reported with the host of the URL. Errors are rethrown unchanged. */
export const reportRefusals =
  (
    fetch: typeof globalThis.fetch,
    onRefused: (refusal: { host: string; reason: string }) => void,
  ): typeof globalThis.fetch =>
  async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      const host = URL.parse(input instanceof Request ? input.url : input)?.host ?? "the server";
      const failure = toGuardedFetchError(error, host);
      if (failure.kind === "refused") onRefused({ host, reason: failure.message });
      throw error;
    }
  };
