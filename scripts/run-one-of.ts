import { spawn } from 'node:child_process'
import { misused } from './read-options.ts'

/**
 * Commands in package.json that run one of several programs, such as `npm run drill -- restore`. The arguments after
 * the name are passed to the program. If a command's first program has no name, it runs when no name is given.
 */
export const PROGRAMS: Record<string, Record<string, string>> = {
  bench: {
    tusd: 'bench/tusd/run.ts',
    costs: 'bench/costs.ts',
    kit: 'bench/kit.ts',
    growth: 'bench/growth/run.ts',
    capacity: 'bench/capacity/run.ts',
    lanes: 'bench/lanes/run.ts',
  },
  drill: {
    '': 'e2e/drills/run.ts',
    restore: 'e2e/drills/restore/run.ts',
    sftp: 'e2e/drills/sftp/run.ts',
    'sftp-clients': 'e2e/sftp-clients/run.ts',
    fleet: 'e2e/drills/fleet.ts',
    import: 'e2e/drills/import.ts',
    failover: 'e2e/drills/failover.ts',
    lanes: 'e2e/drills/lanes.ts',
    clouds: 'e2e/drills/clouds.ts',
    decisions: 'e2e/drills/decisions.ts',
    rollout: 'e2e/drills/rollout/run.ts',
    outages: 'e2e/outages/run.ts',
    neighbours: 'e2e/drills/neighbours/run.ts',
    fuzz: 'e2e/fuzz/run.ts',
    install: 'e2e/install/run.ts',
    examples: 'e2e/examples/run.ts',
    browsers: 'e2e/browsers/run.ts',
    axe: 'scripts/axe.ts',
  },
  admin: {
    account: 'scripts/account.ts',
    backup: 'scripts/backup.ts',
    reconcile: 'scripts/reconcile.ts',
    restore: 'scripts/restore.ts',
    'rotate-keys': 'scripts/rotate-keys.ts',
    'upgrade-check': 'scripts/upgrade-check.ts',
  },
  generate: {
    migration: 'scripts/migration.ts',
    api: 'scripts/api-document.ts --write',
    schemas: 'scripts/published-schemas.ts',
    kit: 'scripts/kit.ts',
    screenshots: 'scripts/screenshots/run.ts',
    'kit-screenshots': 'scripts/screenshots/kit.ts',
    chart: 'scripts/chart.ts',
  },
}

if (import.meta.main) {
  const [command = '', ...given] = process.argv.slice(2)
  const programs = PROGRAMS[command]!
  const isNamed = given[0] !== undefined && !given[0].startsWith('-')
  const name = isNamed ? given[0]! : ''
  const program = programs[name]
  if (!program) {
    const names = Object.keys(programs).filter(Boolean).join(', ')
    misused(name ? `There is no "${name}"` : 'Specify one', `npm run ${command} -- <${names}> [options]`)
  }
  const args = [...program.split(' '), ...(isNamed ? given.slice(1) : given)]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.once('close', (code) => process.exit(code ?? 1))
}
