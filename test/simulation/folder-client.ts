import type { CoreNode, FolderFile } from './core.ts'
import type { Node } from './node.ts'
import { SimulatedClient } from './simulated-client.ts'

type Refusal = { code: string | undefined }

/** Writes its file into a directory, as over SFTP: in small writes, several in flight and some out of order. */
export class FolderClient extends SimulatedClient {
  protected readonly protocol = 'http'

  protected async attempt(): Promise<void> {
    const node = this.world.choices.pick(this.world.nodes)
    const file = await this.#open(node)
    if (file === undefined) return
    // Once the newest file of this name has failed, an older one that was never finished is found, or a new one made.
    if (file.fileId !== this.fileId) this.confirmedBytes = 0
    this.fileId = file.fileId
    this.confirm({ headers: { 'Upload-Offset': String(file.endOffset) } })
    if (!(await this.#writeAll(node, file))) return void node.on(() => void file.cut())
    const closed = await this.#ask(node, 'closes its file', () => file.close())
    if (closed === undefined) this.end = 'done'
    else this.#refused(closed)
  }

  async #open(node: Node): Promise<FolderFile | undefined> {
    if (this.fileId !== undefined && !(await this.#isUnfinished(node))) return undefined
    const opened = await this.#ask(node, 'opens its file', ({ folder }) => folder.open(this.name))
    if (typeof opened === 'object' && 'fileId' in opened) return opened
    this.#refused(opened)
    return undefined
  }

  /** Looks at the file as a client does that comes back. */
  async #isUnfinished(node: Node): Promise<boolean> {
    const found = await this.#ask(node, 'looks at its file', ({ folder }) => folder.look(this.name))
    if (typeof found !== 'object') return false
    if ('code' in found) this.#refused(found)
    else if (found.status !== 'uploading') this.end = 'done'
    return 'status' in found && found.status === 'uploading'
  }

  /** Returns false if the connection was lost, or a write was refused. */
  async #writeAll(node: Node, file: FolderFile): Promise<boolean> {
    const { choices, habits } = this.world
    while (file.endOffset < this.source.length) {
      if (this.world.isTroubled && choices.percent(habits.cutPercent / 3)) return false
      const writes = this.#nextWrites(file.endOffset)
      if (choices.percent(30)) writes.reverse()
      const written = writes.map(({ offset, bytes }) =>
        this.#ask(node, `writes ${bytes.length} bytes at ${offset}`, () => file.write(offset, bytes)),
      )
      const refusal = (await Promise.all(written)).find((answer) => answer !== undefined)
      if (refusal !== undefined) {
        this.#refused(refusal)
        return false
      }
    }
    return true
  }

  #nextWrites(from: number): { offset: number; bytes: Buffer }[] {
    const writes = []
    let offset = from
    for (let left = this.world.choices.whole(1, 3); left > 0 && offset < this.source.length; left--) {
      const bytes = Buffer.from(this.bodyFrom(offset).subarray(0, 2000))
      writes.push({ offset, bytes })
      offset += bytes.length
    }
    return writes
  }

  /** The answer of a node; `nothing` if it died before it answered. */
  async #ask<Answer>(
    node: Node,
    what: string,
    work: (core: CoreNode) => Promise<Answer>,
  ): Promise<Answer | Refusal | 'nothing'> {
    const { scheduler } = this.world
    const { host } = node
    const actor = this.name
    await scheduler.parked({ actor, label: `${what} at node ${host.name}` }, () => {})
    if (host.state === 'dead' || !node.core) return 'nothing'
    const { promise, resolve } = Promise.withResolvers<Answer | Refusal | 'nothing'>()
    const lose = () => resolve('nothing')
    const pending = { break: lose, giveUp: lose }
    node.exchanges.add(pending)
    const answer = (reply: Answer | Refusal) =>
      scheduler.park({ actor, label: `is answered: ${what}`, host, run: () => resolve(reply) })
    const { core } = node
    void node.on(() => work(core)).then(answer, (error: { code?: string }) => answer({ code: error.code }))
    return promise.finally(() => node.exchanges.delete(pending))
  }

  #refused(answer: unknown): void {
    const { code } = (typeof answer === 'object' ? answer : {}) as Refusal
    if (code === 'quota_exceeded') this.end = 'refused'
    else if (code === 'upload_rejected') this.end = 'rejected'
    else if (code === 'type_mismatch' || code === 'not_found') this.end = this.fileId ? 'gone' : undefined
    if (this.fileId !== undefined && this.world.receiver.forgotten.has(this.fileId)) this.end ??= 'left'
  }
}
