import { FileJson } from "lucide-react";
import Link from "next/link";
import { LinkMenu } from "#components/theme/link-menu.tsx";
import { Mark } from "#components/ui/mark.tsx";
import type { OpenApiDocument } from "#lib/api/openapi/types.ts";
import { ErrorList } from "./error-list.tsx";
import { listGroups } from "./list-groups.ts";
import { OperationSection } from "./operation-section.tsx";
import { Prose } from "./prose.tsx";
import { ReferenceNav } from "./reference-nav.tsx";
import { SchemaList } from "./schema-list.tsx";

/** Shows the OpenAPI document: introduction, operations by group, errors and schemas. See decision 092. */
export function Reference({ document }: { document: OpenApiDocument }) {
  const groups = listGroups(document);
  const [server] = document.servers;
  const baseUrl = server?.url ?? "";
  return (
    <div className="min-h-dvh">
      <header className="sticky top-0 z-10 flex h-12 items-center gap-3 border-b bg-surface pr-2 pl-4">
        <Link href="/" className="text-accent" aria-label="Home">
          <Mark />
        </Link>
        <p className="truncate font-semibold text-base">API reference</p>
        <span className="text-faint text-xs max-sm:hidden">
          {document.info.title} {document.info.version}
        </span>
        <span className="flex-1" />
        <LinkMenu href="/api/openapi.json">
          <FileJson /> OpenAPI document
        </LinkMenu>
      </header>
      <div className="mx-auto flex max-w-[1360px] max-lg:flex-col">
        <ReferenceNav groups={groups} />
        <main className="min-w-0 flex-1 px-4 pt-6 pb-24 sm:px-8">
          <section className="max-w-[72ch]">
            <h1 className="mb-3 font-semibold text-xl">{document.info.title}</h1>
            <Prose text={document.info.description} />
            <dl className="mt-4 flex flex-wrap gap-x-8 gap-y-2 text-sm">
              <div>
                <dt className="text-faint text-xs">Base URL</dt>
                <dd className="break-all font-mono text-xs">{baseUrl}</dd>
              </div>
              <div>
                <dt className="text-faint text-xs">OpenAPI document</dt>
                <dd>
                  <a
                    className="font-mono text-accent text-xs underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
                    href="/api/openapi.json"
                  >
                    /api/openapi.json
                  </a>
                </dd>
              </div>
            </dl>
          </section>
          {groups.map(({ name, id, description, operations }) => (
            <section key={id} aria-labelledby={id} className="mt-12">
              <h2 id={id} className="scroll-mt-16 border-b pb-2 font-semibold text-xl">
                {name}
              </h2>
              <div className="mt-3 max-w-[72ch]">
                <Prose text={description} />
              </div>
              {operations.map((operation) => (
                <OperationSection
                  key={operation.operation.operationId}
                  {...operation}
                  baseUrl={baseUrl}
                  components={document.components}
                />
              ))}
            </section>
          ))}
          <ErrorList responses={document.components.responses} />
          <SchemaList schemas={document.components.schemas} />
        </main>
      </div>
    </div>
  );
}
