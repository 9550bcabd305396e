// The library's tabs are wider than a phone: the one that is open comes into sight.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
