/** A processor architecture for which there is a filter, named as in `process.arch`. */
export type FilterArch = "x64" | "arm64";

/** The number of a system call on each processor; null if the processor does not have the call. */
type Numbers = readonly [x64: number | null, arm64: number | null];

/**
 * System calls that fail with EPERM. Some of them need privileges that commands do not have. These calls are denied
 * nevertheless, because a kernel bug in such a call could be exploited.
 */
const FORBIDDEN: Record<string, Numbers> = {
  // Access to other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  statmount: [457, 457],
  listmount: [458, 458],
  open_by_handle_at: [304, 265],
  // Parts of the kernel with a large attack surface.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  // Control of the machine, and obsolete calls.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  create_module: [174, null],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  vhangup: [153, 58],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  nfsservctl: [180, 42],
  uselib: [134, null],
  ustat: [136, null],
  sysfs: [139, null],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  // Placement of memory on NUMA machines.
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  get_mempolicy: [239, 236],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  set_mempolicy_home_node: [450, 450],
};

/** System calls that fail with ENOSYS, so that programs fall back to older calls. */
const MISSING: Record<string, Numbers> = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // A filter cannot check the flags of this call, because they are in memory. The C library falls back to `clone`.
  clone3: [435, 435],
  // Memory that this call creates does not count as memory of the command.
  memfd_secret: [447, 447],
};

/**
 * System calls that fail with EOPNOTSUPP, as on a file system that does not have them, so that programs write the bytes
 * instead. `fallocate` reserves gigabytes in a moment, without a write that could be counted.
 */
const UNSUPPORTED: Record<string, Numbers> = {
  fallocate: [285, 47],
};

/** System calls that are allowed or denied depending on their arguments. */
const CHECKED = {
  clone: [56, 220],
  personality: [135, 92],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  shmget: [29, 194],
} satisfies Record<string, Numbers>;

/**
 * The number of the newest system call that the filter may allow (mseal). Higher numbers, such as all x32 calls, fail
 * with ENOSYS.
 */
const NEWEST = 462;

const ARCHITECTURES: Record<FilterArch, { audit: number; column: 0 | 1 }> = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
};

const NEW_NAMESPACES = 0x7e020000;
/**
 * The allowed arguments of `personality`: Linux and 32-bit Linux, each also with UNAME26 (report an old kernel
 * version), and the value that reads the current personality.
 */
const PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff];
/**
 * The allowed address families of sockets: Unix, IPv4, IPv6 and netlink. Other families, such as vsock (virtual machine
 * to host), would bypass the network namespace.
 */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** The requests TIOCSTI and TIOCLINUX, which insert input into a terminal. */
const TERMINAL_INPUT = [0x5412, 0x541c];
/**
 * The requests FS_IOC_RESVSP, FS_IOC_RESVSP64 and FS_IOC_ZERO_RANGE, which do the same as `fallocate`, and XFS's older
 * ALLOCSP, FREESP, ALLOCSP64 and FREESP64.
 */
const SPACE_RESERVATION = [
  0x40305828, 0x4030582a, 0x40305839, 0x4030580a, 0x4030580b, 0x40305824, 0x40305825,
];
/**
 * Size limit for a System V shared memory segment. Larger segments are denied, because they do not count as memory of a
 * process. Databases need a small segment as a lock.
 */
const SHARED_MEMORY_BYTES_MAX = 65_536;

const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;

const KILL_PROCESS = 0x80000000;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;

/** Offsets in `struct seccomp_data`, the input of a filter. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const lowOfArgument = (index: number) => 16 + 8 * index;
const highOfArgument = (index: number) => 20 + 8 * index;

/** An instruction of the classic BPF machine. */
type Instruction = { code: number; yes: number; no: number; value: number };

const load = (at: number): Instruction => ({ code: 0x20, yes: 0, no: 0, value: at });
const answer = (action: number): Instruction => ({ code: 0x06, yes: 0, no: 0, value: action });
const fail = (errno: number): Instruction => answer(ERRNO | errno);
/** Conditional jumps: `yes` and `no` are the numbers of instructions to skip. */
const ifEqual = (value: number, yes: number, no: number): Instruction => ({ code: 0x15, yes, no, value });
const ifGreater = (value: number, yes: number, no: number): Instruction => ({ code: 0x25, yes, no, value });
const ifAnyBit = (value: number, yes: number, no: number): Instruction => ({ code: 0x45, yes, no, value });

/** Runs `body` for one system call number. `body` must end with an answer. */
const when = (number: number, body: Instruction[]): Instruction[] => [
  ifEqual(number, 0, body.length),
  ...body,
];

/** Loads the value at the offset `at`. The filter answers `listed` if the value is in `values`, otherwise `others`. */
const byList = (at: number, values: number[], listed: Instruction, others: Instruction): Instruction[] => [
  load(at),
  ...values.map((value, index) => ifEqual(value, values.length - index, 0)),
  others,
  listed,
];

/**
 * Builds a seccomp filter for commands as an array of BPF instructions, the format of bubblewrap's `--seccomp`. The
 * filter denies at least the calls that Docker's default profile denies to an unprivileged container. A denied call
 * fails with an error. A call of another architecture, such as 32-bit x86, ends the process.
 */
export function buildSeccompFilter(arch: FilterArch): Uint8Array {
  const { audit, column } = ARCHITECTURES[arch];
  const numbersOf = (calls: Record<string, Numbers>) =>
    Object.values(calls)
      .map((numbers) => numbers[column])
      .filter((number) => number !== null);
  const { clone, personality, socket, socketpair, ioctl, shmget } = CHECKED;
  const family = byList(lowOfArgument(0), SOCKET_FAMILIES, answer(ALLOW), fail(EAFNOSUPPORT));
  return encode([
    load(ARCHITECTURE_AT),
    ifEqual(audit, 1, 0),
    answer(KILL_PROCESS),
    load(NUMBER_AT),
    ifGreater(NEWEST, 0, 1),
    fail(ENOSYS),
    ...numbersOf(FORBIDDEN).flatMap((number) => when(number, [fail(EPERM)])),
    ...numbersOf(MISSING).flatMap((number) => when(number, [fail(ENOSYS)])),
    ...numbersOf(UNSUPPORTED).flatMap((number) => when(number, [fail(EOPNOTSUPP)])),
    ...when(clone[column], [
      load(lowOfArgument(0)),
      ifAnyBit(NEW_NAMESPACES, 0, 1),
      fail(EPERM),
      answer(ALLOW),
    ]),
    ...when(personality[column], byList(lowOfArgument(0), PERSONALITIES, answer(ALLOW), fail(EPERM))),
    ...when(socket[column], family),
    ...when(socketpair[column], family),
    ...when(
      ioctl[column],
      byList(lowOfArgument(1), [...TERMINAL_INPUT, ...SPACE_RESERVATION], fail(EPERM), answer(ALLOW)),
    ),
    ...when(shmget[column], [
      load(highOfArgument(1)),
      ifEqual(0, 0, 2),
      load(lowOfArgument(1)),
      ifGreater(SHARED_MEMORY_BYTES_MAX, 0, 1),
      fail(EPERM),
      answer(ALLOW),
    ]),
    answer(ALLOW),
  ]);
}

/** Encodes instructions as little-endian, the byte order of both processors. */
function encode(program: Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, yes, no, value }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}

/** Returns the filter for this machine; undefined if its processor has none. */
export const seccompFilter = (): Uint8Array | undefined =>
  process.arch === "x64" || process.arch === "arm64" ? buildSeccompFilter(process.arch) : undefined;
