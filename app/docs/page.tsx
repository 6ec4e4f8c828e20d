import type { Metadata } from "next";
import { headers } from "next/headers";
import { loadReference } from "#lib/api/next/mount.ts";
import { Reference } from "./reference.tsx";

export const metadata: Metadata = { title: "API reference" };

/** The interface for those who program it: its OpenAPI document, as a page. */
export default async function DocsPage() {
  // Drawn at every request: the document and the page's nonce are this server's.
  await headers();
  return <Reference document={await loadReference()} />;
}
