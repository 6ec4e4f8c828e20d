/** Context windows by the beginning of the model's name, longest beginnings first; deliberately on the low side. */
const windows: [prefix: string, tokens: number][] = [
  ["gpt-4o", 128_000],
  ["gpt-4.1", 1_000_000],
  ["gpt-4", 128_000],
  ["gpt-3.5", 16_000],
  ["gpt-5", 400_000],
  ["gpt-6", 400_000],
  ["o1", 200_000],
  ["o3", 200_000],
  ["o4", 200_000],
  ["claude", 200_000],
  ["gemini", 1_000_000],
  ["grok", 256_000],
];

/**
 * Tokens that fit the context of a model named by an OpenAI id or a gateway id (`vendor/model`).
 * A name that is not known is taken for 128,000; `AGENT_CONTEXT_TOKENS` overrides either.
 */
export function findContextTokens(modelId: string): number {
  const name = modelId.slice(modelId.lastIndexOf("/") + 1).toLowerCase();
  return windows.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 128_000;
}
