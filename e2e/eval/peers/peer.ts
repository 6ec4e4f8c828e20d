import type { ToolSet } from "ai";
import { buildApp } from "#e2e/variants/matrix/build-app.ts";

/** A tool set of another project that lets a model use a browser. */
export type Peer = {
  /** The instructions of the model, in which the peer explains its tools. */
  instructions: string;
  tools: ToolSet;
  /** Returns how many calls of tools there were, and how many of them failed. */
  countCalls: () => { toolCalls: number; toolErrors: number };
  close: () => Promise<void>;
};

/** Opens a peer with a browser of its own. */
export type OpenPeer = (folder: string, chromium: string) => Promise<Peer>;

/**
 * The peers with their exact versions, so that everyone compares with the same tools. None of them is a dependency of the
 * product.
 */
export const PEERS = { "@playwright/mcp": "0.0.83", "agent-browser": "0.41.2" };

export type PeerName = keyof typeof PEERS;

/** Installs the peers from npm, in a folder outside of the repository. @returns the folder. */
export const installPeers = (log: (text: string) => void): Promise<string> =>
  buildApp({ name: "Peers", packages: PEERS, files: {} }, log);
