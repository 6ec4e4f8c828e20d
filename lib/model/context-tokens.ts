/**
 * Maximum prompt size, in tokens, of models whose name begins with a prefix. The first match counts, so `gpt-4o` comes
 * before `gpt-4`. The values are conservative and exclude the part of the window that a vendor reserves for the answer.
 */
const WINDOWS: [prefix: string, tokens: number][] = [
  ["gpt-4o", 128_000],
  ["gpt-4.1", 1_000_000],
  ["gpt-4-turbo", 128_000],
  ["gpt-4", 8_000],
  ["gpt-3.5", 16_000],
  ["gpt-5", 272_000],
  ["gpt-6", 272_000],
  ["o1-mini", 128_000],
  ["o1-preview", 128_000],
  ["o1", 200_000],
  ["o3", 200_000],
  ["o4", 200_000],
  ["claude", 200_000],
  ["gemini", 1_000_000],
  ["grok", 256_000],
];

/** Context size for a name that the table does not contain. */
const UNKNOWN_TOKENS = 128_000;

/**
 * Returns the context size, in tokens, for an OpenAI id or a gateway id (`vendor/model`); 128,000 for an unknown model.
 * `AGENT_CONTEXT_TOKENS` overrides the result.
 */
export function findContextTokens(modelId: string): number {
  const name = modelId.slice(modelId.lastIndexOf("/") + 1).toLowerCase();
  return WINDOWS.find(([prefix]) => name.startsWith(prefix))?.[1] ?? UNKNOWN_TOKENS;
}
