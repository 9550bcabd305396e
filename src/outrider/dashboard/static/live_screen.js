// The picture: draws frames, and maps points of the window to points of the page.

export class Screen {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.forget();
  }

  // For another session: forget the old frame, so that nobody acts on it.
  forget() {
    this.drawn = false;
    this.size = [0, 0]; // of the page's viewport, in its CSS pixels
    this.seq = 0;
    this.times = [];
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  async draw(header, jpeg) {
    const bitmap = await createImageBitmap(new Blob([jpeg], { type: "image/jpeg" }));
    const { width, height } = header.metadata;
    if (header.seq >= this.seq) {
      if (this.canvas.width !== bitmap.width || this.canvas.height !== bitmap.height) {
        this.canvas.width = bitmap.width;
        this.canvas.height = bitmap.height;
      }
      this.context.drawImage(bitmap, 0, 0);
      this.size = [Math.round(width) || bitmap.width, Math.round(height) || bitmap.height];
      this.seq = header.seq;
      this.drawn = true;
      this.canvas.dataset.seq = header.seq;
      this.times = [...this.times.slice(-59), performance.now()];
    }
    bitmap.close();
  }

  // Pictures in the last second.
  rate() {
    const now = performance.now();
    return this.times.filter((each) => now - each < 1000).length;
  }

  // The page's point under a point of the window, in the page's CSS pixels; null outside the picture, unless
  // `clamp`.
  point(clientX, clientY, clamp = false) {
    const box = this.canvas.getBoundingClientRect();
    const scale = Math.min(box.width / this.canvas.width, box.height / this.canvas.height); // object-fit: contain
    const [width, height] = [this.canvas.width * scale, this.canvas.height * scale];
    const left = box.left + (box.width - width) / 2;
    const top = box.top + (box.height - height) / 2;
    let [across, down] = [(clientX - left) / width, (clientY - top) / height];
    const inside = across >= 0 && across < 1 && down >= 0 && down < 1;
    if (!this.drawn || (!inside && !clamp)) return null;
    [across, down] = [across, down].map((each) => Math.min(Math.max(each, 0), 0.9999));
    return { x: round(across * this.size[0]), y: round(down * this.size[1]) };
  }

  // How many of the page's CSS pixels one pixel of the window shows.
  get zoom() {
    const box = this.canvas.getBoundingClientRect();
    return this.size[0] / Math.min(box.width, (box.height * this.canvas.width) / this.canvas.height) || 1;
  }
}

const round = (number) => Math.round(number * 10) / 10;
