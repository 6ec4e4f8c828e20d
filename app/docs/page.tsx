import type { Metadata } from "next";
import { headers } from "next/headers";
import { loadReference } from "#lib/api/next/mount.ts";
import { Reference } from "./reference.tsx";

export const metadata: Metadata = { title: "API reference" };

/** The API reference: shows the OpenAPI document as a page. */
export default async function DocsPage() {
  // Reading the headers makes Next render the page for each request. The CSP nonce and the document need that.
  await headers();
  return <Reference document={await loadReference()} />;
}
