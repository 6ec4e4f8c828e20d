import { protocol, type QueryOptions, type Results } from "@electric-sql/pglite";
import type { PreparedStatement } from "./pglite-statements.ts";

type Messages = Parameters<Parameters<protocol.Parser["parse"]>[1]>[0][];
type OnNotice = NonNullable<QueryOptions["onNotice"]>;
type Parse = (text: string, type?: number) => unknown;

const {
  CommandCompleteMessage,
  DatabaseError,
  DataRowMessage,
  NoticeMessage,
  ParameterDescriptionMessage,
  RowDescriptionMessage,
} = protocol.messages;
const writes = new Set(["INSERT", "UPDATE", "DELETE", "COPY", "MERGE"]);

/** The messages of one answer, which is used up. @throws DatabaseError the first that is among them. */
export function readAnswer(answer: ArrayBuffer, onNotice?: OnNotice): Messages {
  const messages: Messages = [];
  let failure: InstanceType<typeof DatabaseError> | undefined;
  new protocol.Parser().parse(answer, (message) => {
    if (failure) return;
    if (message instanceof DatabaseError) failure = message;
    else if (message instanceof NoticeMessage) onNotice?.(message);
    messages.push(message);
  });
  // Its memory is free at once; left to the collector, it would wait for a great deal of it.
  answer.transfer(0);
  if (failure) throw failure;
  return messages;
}

/** What PGlite answered to the description of a statement. */
export function readDescription(name: string, messages: Messages): PreparedStatement {
  const statement: PreparedStatement = { name, parameterTypes: [], fields: [] };
  for (const message of messages) {
    if (message instanceof ParameterDescriptionMessage) statement.parameterTypes = message.dataTypeIDs;
    if (message instanceof RowDescriptionMessage) {
      statement.fields = message.fields.map((field) => ({ name: field.name, dataTypeID: field.dataTypeID }));
    }
  }
  return statement;
}

/**
 * The result of one execution, in the shape that PGlite's own `query` gives.
 *
 * @param parsers of PGlite, by type; those of the options come before them.
 */
export function readResult<Row>(
  { fields }: PreparedStatement,
  messages: Messages,
  parsers: Record<number, Parse>,
  options: QueryOptions = {},
): Results<Row> {
  const columns = fields.map(({ name, dataTypeID }) => {
    const parse: Parse | undefined = options.parsers?.[dataTypeID] ?? parsers[dataTypeID];
    const read = (text: string | null) => (text === null || !parse ? text : parse(text, dataTypeID));
    return { name, read };
  });
  const rows: unknown[] = [];
  let completion: { command: string; affectedRows: number; rowCount?: number } | undefined;
  for (const message of messages) {
    if (message instanceof DataRowMessage) {
      const values = columns.map(({ read }, index) => read(message.fields[index] ?? null));
      rows.push(
        options.rowMode === "array"
          ? values
          : Object.fromEntries(columns.map(({ name }, index) => [name, values[index]])),
      );
    } else if (message instanceof CommandCompleteMessage) completion = readTag(message.text);
  }
  if (!completion) return { affectedRows: 0, rows: [], fields: [] };
  return { rows: rows as Row[], fields: fields.map((field) => ({ ...field })), ...completion };
}

/** A command tag ends in a number of rows where the command has one: `SELECT 2`, `INSERT 0 5`, `CREATE TABLE`. */
function readTag(tag: string) {
  const parts = tag.split(" ");
  const command = parts[0] ?? "";
  const rowCount = Number.parseInt(parts.at(-1) ?? "", 10);
  const affectedRows = writes.has(command) ? rowCount : 0;
  return Number.isNaN(rowCount) ? { command, affectedRows } : { command, affectedRows, rowCount };
}
