import { defineConfig } from 'playwright/test'
import { findChromium } from './test/support/chromium.ts'

/** The browser tests: one built server with the embedded defaults, and a real Chromium. */
export default defineConfig({
  testDir: 'e2e/browser',
  globalSetup: './test/support/browser-setup.ts',
  outputDir: 'test-results',
  // The system ring runs at the same time, and durations are not test results.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: true,
  fullyParallel: true,
  workers: 2,
  retries: 0,
  use: {
    launchOptions: await findChromium(),
    viewport: { width: 1280, height: 900 },
    actionTimeout: 30_000,
    screenshot: 'only-on-failure',
    // Colors are undefined during a transition between modes.
    contextOptions: { reducedMotion: 'reduce' },
  },
})
