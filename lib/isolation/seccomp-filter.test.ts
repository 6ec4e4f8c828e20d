import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { buildSeccompFilter, type FilterArch } from "./seccomp-filter.ts";

const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003 };
const ERRORS: Record<number, string> = { 1: "EPERM", 38: "ENOSYS", 95: "EOPNOTSUPP", 97: "EAFNOSUPPORT" };

/**
 * Runs the filter for one system call, as the kernel's BPF machine does. @returns the action that the filter chooses.
 */
function decide(filter: Uint8Array, audit: number, number: number, args: bigint[] = []): string {
  const program = Buffer.from(filter);
  const call = Buffer.alloc(64);
  call.writeUInt32LE(number >>> 0, 0);
  call.writeUInt32LE(audit, 4);
  for (const [index, value] of args.entries()) call.writeBigUInt64LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    const jump = (holds: boolean) => {
      at += program.readUInt8(at * 8 + (holds ? 2 : 3));
    };
    if (code === 0x20) accumulator = call.readUInt32LE(value);
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x25) jump(accumulator > value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else {
      assert.equal(code, 0x06);
      if (value === 0x7fff0000) return "allow";
      if (value === 0x80000000) return "kill";
      assert.equal(value & 0xffff0000, 0x00050000);
      return ERRORS[value & 0xffff] ?? String(value & 0xffff);
    }
  }
  return assert.fail("the program has no answer");
}

/**
 * System calls with their expected verdicts. The numbers are from the kernel's tables (`asm/unistd_64.h`,
 * `asm-generic/unistd.h`) and were written independently of the filter.
 */
const CALLS: [name: string, x64: number, arm64: number, args: bigint[], verdict: string][] = [
  ["read", 0, 63, [], "allow"],
  ["execve", 59, 221, [], "allow"],
  ["prctl", 157, 167, [], "allow"],
  ["seccomp", 317, 277, [], "allow"],
  ["memfd_create", 319, 279, [], "allow"],
  ["close_range", 436, 436, [], "allow"],
  ["openat2", 437, 437, [], "allow"],
  ["futex_waitv", 449, 449, [], "allow"],
  ["ptrace", 101, 117, [], "EPERM"],
  ["process_vm_readv", 310, 270, [], "EPERM"],
  ["bpf", 321, 280, [], "EPERM"],
  ["keyctl", 250, 219, [], "EPERM"],
  ["add_key", 248, 217, [], "EPERM"],
  ["perf_event_open", 298, 241, [], "EPERM"],
  ["userfaultfd", 323, 282, [], "EPERM"],
  ["mount", 165, 40, [], "EPERM"],
  ["fsopen", 430, 430, [], "EPERM"],
  ["unshare", 272, 97, [0x10000000n], "EPERM"],
  ["setns", 308, 268, [], "EPERM"],
  ["init_module", 175, 105, [], "EPERM"],
  ["kexec_load", 246, 104, [], "EPERM"],
  ["io_uring_setup", 425, 425, [], "ENOSYS"],
  ["clone3", 435, 435, [], "ENOSYS"],
  ["a call that does not exist yet", 463, 463, [], "ENOSYS"],
  ["read of x32", 0x40000000, 0x40000000, [], "ENOSYS"],
  ["a negative number", -1, -1, [], "ENOSYS"],
  ["clone of a thread", 56, 220, [0x3d0f00n], "allow"],
  ["clone of a process", 56, 220, [0x1200011n], "allow"],
  ["clone with a user namespace", 56, 220, [0x10000011n], "EPERM"],
  ["clone with a mount namespace", 56, 220, [0x20011n], "EPERM"],
  ["clone with a time namespace, which only clone3 has", 56, 220, [0x80n], "allow"],
  ["personality, asked for", 135, 92, [0xffffffffn], "allow"],
  ["personality without random addresses", 135, 92, [0x40000n], "EPERM"],
  ["socket: unix", 41, 198, [1n], "allow"],
  ["socket: IPv6", 41, 198, [10n], "allow"],
  ["socket: netlink", 41, 198, [16n], "allow"],
  ["socket: vsock", 41, 198, [40n], "EAFNOSUPPORT"],
  ["socket: the kernel's ciphers", 41, 198, [38n], "EAFNOSUPPORT"],
  ["socketpair: unix", 53, 199, [1n], "allow"],
  ["socketpair: vsock, with bits above", 53, 199, [0x1_0000_0028n], "EAFNOSUPPORT"],
  ["ioctl", 16, 29, [0n, 0x5401n], "allow"],
  ["ioctl: input for the terminal", 16, 29, [0n, 0x5412n], "EPERM"],
  ["ioctl: input for the terminal, with bits above", 16, 29, [0n, 0x1_0000_5412n], "EPERM"],
  ["fallocate", 285, 47, [1n, 0n, 0n, 1_048_576n], "EOPNOTSUPP"],
  ["ioctl: FS_IOC_RESVSP, which reserves space like fallocate", 16, 29, [0n, 0x40305828n], "EPERM"],
  ["ioctl: FS_IOC_ZERO_RANGE, which does so too", 16, 29, [0n, 0x40305839n], "EPERM"],
  ["shmget: a lock", 29, 194, [0n, 56n], "allow"],
  ["shmget: memory", 29, 194, [0n, 1_048_576n], "EPERM"],
  ["shmget: more than 4 GiB", 29, 194, [0n, 0x1_0000_0000n], "EPERM"],
];

for (const arch of ["x64", "arm64"] as const satisfies FilterArch[]) {
  const filter = buildSeccompFilter(arch);
  describe(`the filter for ${arch}`, () => {
    for (const [name, x64, arm64, args, verdict] of CALLS) {
      it(`answers ${name}: ${verdict}`, () => {
        const number = arch === "x64" ? x64 : arm64;
        assert.equal(decide(filter, AUDIT[arch], number, args), verdict);
      });
    }
    it("ends a process that makes a call of another architecture", () => {
      for (const [name, audit] of Object.entries(AUDIT))
        assert.equal(decide(filter, audit, arch === "x64" ? 0 : 63), name === arch ? "allow" : "kill");
    });
    it("fits the kernel's limit, and answers every call", () => {
      assert.ok(filter.length / 8 <= 4_096);
      for (let number = 0; number < 600; number++)
        assert.match(decide(filter, AUDIT[arch], number), /^(allow|E[A-Z]+)$/);
    });
  });
}
