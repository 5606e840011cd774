import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** The same options as in every package.json script. Declared separately, since Vitest requires a mutable array. */
const execArgv = ['-r', join(import.meta.dirname, 'scripts/resolve-drizzle.cjs')]

const common = {
  environment: 'node',
  restoreMocks: true,
  // With isolation, loading the same modules again for each file would take longer than its tests.
  isolate: false,
  maxWorkers: 2,
  execArgv,
  // A long timeout, since tests must not fail because the machine is busy.
  expect: { poll: { timeout: 30_000 } },
} as const

const UNIT_TESTS = '{lib,server,packages,app,components,scripts,bench,deploy,test}/**/*.test.{ts,tsx}'
const DATABASE_TESTS = '{lib,server,app,scripts,bench,test}/**/*.db.test.ts'
/** Whether a file mocks a module. Without isolation, the mock would affect the files that run after it. */
const replaces = (file: string) => readFileSync(file, 'utf8').includes('vi.mock(')
const replacing = globSync(UNIT_TESTS, { exclude: [DATABASE_TESTS] }).filter(replaces)
const replacingWithDatabase = globSync(DATABASE_TESTS).filter(replaces)

// Rings of tests, from fast to complete. The path of a test shows which ring it belongs to.
export default defineConfig({
  test: {
    tags: [{ name: 'long', description: 'Runs only with `npm test -- --all`.' }],
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: [UNIT_TESTS],
          exclude: [DATABASE_TESTS, ...replacing],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...common,
          name: 'unit-replacing',
          include: replacing,
          isolate: true,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...common,
          name: 'database',
          include: [DATABASE_TESTS],
          exclude: replacingWithDatabase,
          globalSetup: ['test/support/postgres-setup.ts'],
          setupFiles: ['test/support/cheap-scrypt.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...common,
          name: 'database-replacing',
          include: replacingWithDatabase,
          isolate: true,
          globalSetup: ['test/support/postgres-setup.ts'],
          setupFiles: ['test/support/cheap-scrypt.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...common,
          name: 'system',
          isolate: true,
          include: ['e2e/system/**/*.test.ts'],
          globalSetup: [
            'test/support/source-setup.ts',
            'test/support/postgres-setup.ts',
            'test/support/programs-setup.ts',
          ],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          ...common,
          name: 'served',
          isolate: true,
          include: ['e2e/{conformance,guides,kit,security}/**/*.test.ts'],
          globalSetup: ['test/support/source-setup.ts', 'test/support/target-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
