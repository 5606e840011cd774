import { isStored } from './ledger-rules.ts'
import { SimulatedClient } from './simulated-client.ts'

/** Has its file imported from a server: see `SimulatedSource`. It only asks for it, and looks what became of it. */
export class ImportClient extends SimulatedClient {
  protected readonly protocol = 'http'

  protected async attempt(): Promise<void> {
    const { choices, nodes, invariants, receiver } = this.world
    const file = invariants.ledger.files.find(({ filename }) => filename === this.name)
    if (!file) return this.#ask(choices.pick(nodes))
    this.fileId = file.id
    if (isStored(file)) this.end = 'done'
    else if (file.decision === 'rejected') this.end = 'rejected'
    else if (file.reason?.includes('quota')) this.end = 'refused'
    else if (!file.status.endsWith('ing')) this.end = 'gone'
    else if (receiver.forgotten.has(file.id)) this.end = 'left'
  }

  async #ask(node: SimulatedClient['world']['nodes'][number]): Promise<void> {
    const { host, core } = node
    const step = { actor: this.name, label: `asks node ${host.name} to import its file`, host }
    // If the node dies, the next attempt looks whether there is a file.
    await node.outlives(
      this.world.scheduler
        .parked(step, () => {})
        .then(async () => core && (await node.on(() => core.importFile(this.name).catch(() => {})))),
    )
  }
}
