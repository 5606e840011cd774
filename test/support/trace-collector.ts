import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A trace collector for OTLP over HTTP, which parses spans independently of the code that encodes them. */
export type CollectedSpan = {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  startNs: bigint
  endNs: bigint
  attributes: Record<string, string | number>
  /** 2 means error. */
  statusCode: number
}

export async function startTraceCollector() {
  const spans: CollectedSpan[] = []
  const services = new Set<unknown>()
  let status = 200
  let refused = 0
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      if (status === 200) {
        if (req.url !== '/v1/traces') return void res.writeHead(404).end()
        for (const group of messagesOf(Buffer.concat(chunks), 1)) {
          for (const resource of messagesOf(group, 1)) services.add(attributesOf(resource, 1)['service.name'])
          for (const scope of messagesOf(group, 2)) spans.push(...messagesOf(scope, 2).map(toSpan))
        }
      } else refused++
      res.writeHead(status, { 'Content-Type': 'application/x-protobuf' }).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    services,
    refused: () => refused,
    answerWith(next: number) {
      status = next
    },
    /**
     * One trace's spans, earliest first. If two started in the same millisecond, the longer one, which contains the
     * other, comes first.
     */
    trace: (traceId: string) =>
      spans
        .filter((span) => span.traceId === traceId)
        .sort((a, b) => Number(a.startNs - b.startNs) || Number(b.endNs - a.endNs)),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto */
function toSpan(bytes: Buffer): CollectedSpan {
  const fields = fieldsOf(bytes)
  const hex = (field: number) => (fields.get(field)?.[0] as Buffer | undefined)?.toString('hex') ?? ''
  const number = (field: number) => (fields.get(field)?.[0] as bigint | undefined) ?? 0n
  const status = fields.get(15)?.[0] as Buffer | undefined
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentSpanId: hex(4),
    name: String(fields.get(5)?.[0] ?? ''),
    kind: Number(number(6)),
    startNs: number(7),
    endNs: number(8),
    attributes: attributesOf(bytes, 9),
    statusCode: status ? Number(fieldsOf(status).get(3)?.[0] ?? 0n) : 0,
  }
}

function attributesOf(bytes: Buffer, field: number): Record<string, string | number> {
  return Object.fromEntries(
    messagesOf(bytes, field).map((pair) => {
      const fields = fieldsOf(pair)
      const [[kind, [value]]] = [...fieldsOf(fields.get(2)![0] as Buffer)] as [[number, [bigint | Buffer]]]
      return [String(fields.get(1)![0]), kind === 1 ? String(value) : Number(value)]
    }),
  )
}

const messagesOf = (bytes: Buffer, field: number) => (fieldsOf(bytes).get(field) ?? []) as Buffer[]

/**
 * https://protobuf.dev/programming-guides/encoding/: each field is a tag, followed by a varint, eight bytes, four
 * bytes, or a length and that many bytes.
 */
function fieldsOf(bytes: Buffer): Map<number, (bigint | Buffer)[]> {
  const fields = new Map<number, (bigint | Buffer)[]>()
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (count: number) => {
    at += count
    return bytes.subarray(at - count, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const read: Record<number, () => bigint | Buffer> = {
      0: varint,
      1: () => take(8).readBigUInt64LE(),
      2: () => take(Number(varint())),
      5: () => BigInt(take(4).readUInt32LE()),
    }
    const value = read[tag & 7]!()
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}
