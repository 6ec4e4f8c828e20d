import { createHash, generateKeyPair } from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";

/** A certificate and its private key. Both are kept only in memory. */
export type OwnCertificate = {
  key: string;
  cert: string;
  /** SHA-256 of the public key, in base64. A browser that is started with this hash accepts the certificate. */
  spkiHash: string;
};

const generate = promisify(generateKeyPair);
const BITS = 2_048;
const YEARS = 10;
/** Types of a certificate's alternative names. Source: RFC 5280, 4.2.1.6. */
const DNS_NAME = 2;
const IP_ADDRESS = 7;

/** Creates a self-signed certificate for host names and addresses. */
export async function createOwnCertificate(hostnames: readonly string[]): Promise<OwnCertificate> {
  // node-forge is loaded on demand, because only deployments with https need it.
  const { default: forge } = await import("node-forge");
  const { publicKey, privateKey } = await generate("rsa", { modulusLength: BITS });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(
    publicKey.export({ type: "spki", format: "pem" }).toString(),
  );
  certificate.serialNumber = "01";
  const { notBefore, notAfter } = certificate.validity;
  notBefore.setFullYear(notBefore.getFullYear() - 1);
  notAfter.setFullYear(notAfter.getFullYear() + YEARS);
  const name = [{ name: "commonName", value: "agent session service" }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  const altNames = hostnames.map((hostname) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    return isIP(host) === 0 ? { type: DNS_NAME, value: host } : { type: IP_ADDRESS, ip: host };
  });
  certificate.setExtensions([{ name: "subjectAltName", altNames }]);
  certificate.sign(forge.pki.privateKeyFromPem(key), forge.md.sha256.create());
  const spki = publicKey.export({ type: "spki", format: "der" });
  return {
    key,
    cert: forge.pki.certificateToPem(certificate),
    spkiHash: createHash("sha256").update(spki).digest("base64"),
  };
}
