/**
 * Returns the arguments of `initdb`. With them, text sorts by code point on every system, and checksums detect damaged
 * pages.
 */
export function initdbArguments(major: number): string[] {
  // Since version 17, Postgres includes a locale that does not depend on the operating system.
  const locale =
    major >= 17
      ? ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
      : [process.platform === "linux" ? "--locale=C.UTF-8" : "--locale=C"];
  return [
    "--username=postgres",
    "--encoding=UTF8",
    ...locale,
    "--data-checksums",
    "--wal-segsize=4",
    // The socket needs no password, because other users cannot enter the folder that contains it.
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
    "--no-sync",
    "--no-instructions",
  ];
}

/** Size of a file of the write-ahead log (`--wal-segsize`), in bytes. */
export const WAL_SEGMENT_BYTES = 4 * 1024 * 1024;

/**
 * Returns the settings of a server for one service on one machine: little memory, few processes, and durable commits.
 */
export function serviceSettings(major: number): string[] {
  return [
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "port=5432",
    "fsync=on",
    "full_page_writes=on",
    "synchronous_commit=on",
    "max_connections=50",
    "shared_buffers=32MB",
    "work_mem=4MB",
    "maintenance_work_mem=32MB",
    "min_wal_size=32MB",
    "max_wal_size=256MB",
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_worker_processes=0",
    "max_parallel_workers=0",
    "max_logical_replication_workers=0",
    "autovacuum_max_workers=1",
    "jit=off",
    "huge_pages=off",
    // Avoids the default of version 18, which starts three more processes for reading files.
    ...(major >= 18 ? ["io_method=sync"] : []),
    "logging_collector=off",
    "log_destination=stderr",
    "log_line_prefix=",
    "log_checkpoints=off",
    // The log contains starts, stops and failures of the server. It contains no failed statements, because the client
    // reports them.
    "log_min_messages=log",
    "log_min_error_statement=panic",
  ];
}
