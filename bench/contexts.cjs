// Playwright's own way to many sessions: contexts of one browser, a page each. Arguments: module, executable, address, count.
const [playwright, executablePath, url, count] = process.argv.slice(2);
const { chromium } = require(playwright);
(async () => {
  const args = process.getuid && process.getuid() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  for (let at = 0; at < Number(count); at++) {
    const page = await (await browser.newContext()).newPage();
    await page.goto(url);
  }
  console.log("ready");
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
})();
