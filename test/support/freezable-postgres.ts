import postgres from 'postgres'
import { startOwnPostgres } from './postgres.ts'

/** A separate PostgreSQL server whose processes can all be paused while they work. */
export async function freezablePostgres() {
  const server = await startOwnPostgres()
  const client = postgres(server.url, { max: 1, onnotice: () => {} })
  let frozen: number[] = []
  const signal = (name: NodeJS.Signals) => {
    for (const pid of frozen) {
      try {
        process.kill(pid, name)
      } catch {
        // The process has exited since it was listed.
      }
    }
  }
  const thaw = () => {
    signal('SIGCONT')
    frozen = []
  }
  return {
    url: server.url,
    async freeze() {
      const [{ file }] = await client<[{ file: string }]>`select pg_read_file('postmaster.pid') as file`
      const others = await client<{ pid: number }[]>`select pid from pg_stat_activity`
      frozen = [Number.parseInt(file, 10), ...others.map(({ pid }) => pid)]
      signal('SIGSTOP')
    },
    thaw,
    async stop() {
      thaw()
      await client.end()
      await server.stop()
    },
  }
}
