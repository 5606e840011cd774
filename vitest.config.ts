import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const common = {
  environment: 'node',
  restoreMocks: true,
  // How long a thing takes is no test of it.
  expect: { poll: { timeout: 30_000 } },
} as const

// Four rings, from quick to whole: the file name says which one a test belongs to.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['{lib,app,components,scripts,bench,deploy}/**/*.test.{ts,tsx}'],
          exclude: ['**/*.db.test.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'database',
          include: ['{lib,app,scripts}/**/*.db.test.ts'],
          globalSetup: ['e2e/parts/postgres-setup.ts', 'e2e/parts/embedded-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...common,
          name: 'system',
          include: ['e2e/system/**/*.test.ts'],
          // Dozens of processes begin with the same modules.
          env: { NODE_COMPILE_CACHE: join(tmpdir(), 'sluice-compile-cache') },
          globalSetup: ['e2e/parts/postgres-setup.ts', 'e2e/parts/programs-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          ...common,
          name: 'served',
          include: ['e2e/{conformance,security}/**/*.test.ts'],
          globalSetup: ['e2e/parts/target-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
    ],
  },
})
