import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Accordion, AccordionDetails, AccordionSummary, Alert, Autocomplete, Badge, BottomNavigation, BottomNavigationAction, Button, Checkbox, Chip, Dialog, DialogActions, DialogContent, DialogContentText, DialogTitle, FormControl, FormControlLabel, FormHelperText, FormLabel, IconButton, InputLabel, ListItemText, Menu, MenuItem, Pagination, Radio, RadioGroup, Rating, Select, Slider, Snackbar, SpeedDial, SpeedDialAction, Stack, Step, StepButton, Stepper, Switch, Tab, Table, TableBody, TableCell, TableHead, TablePagination, TableRow, TableSortLabel, Tabs, TextField, ToggleButton, ToggleButtonGroup, Tooltip, Typography } from "@mui/material";
import { SimpleTreeView, TreeItem } from "@mui/x-tree-view";
import { AdapterDayjs } from "@mui/x-date-pickers/AdapterDayjs";
import { DatePicker, LocalizationProvider, TimePicker } from "@mui/x-date-pickers";
import dayjs from "dayjs";

const NAMES = ["Oliver Hansen", "Van Henry", "April Tucker", "Ralph Hubbard"];
const FILMS = ["The Godfather", "Pulp Fiction", "Fight Club", "Inception", "Forrest Gump"];
const ROWS = [["Cupcake", 305], ["Donut", 452], ["Eclair", 262], ["Gingerbread", 356], ["Honeycomb", 408], ["KitKat", 518]];

function Selects() {
  const [age, setAge] = useState(10), [names, setNames] = useState(["Van Henry"]);
  return (
    <Stack direction="row" spacing={2}>
      <FormControl sx={{ width: 160 }}><InputLabel id="age">Age</InputLabel>
        <Select labelId="age" label="Age" value={age} onChange={(event) => { setAge(event.target.value); tell("age", event.target.value); }}><MenuItem value={10}>Ten</MenuItem><MenuItem value={20}>Twenty</MenuItem><MenuItem value={30}>Thirty</MenuItem></Select><FormHelperText>With label and helper text</FormHelperText></FormControl>
      <FormControl sx={{ width: 240 }}><InputLabel id="names">Names</InputLabel>
        <Select labelId="names" label="Names" multiple value={names} renderValue={(chosen) => chosen.map((each) => <Chip key={each} label={each} />)} onChange={(event) => { setNames(event.target.value); tell("names", event.target.value); }}>
          {NAMES.map((each) => <MenuItem key={each} value={each}><Checkbox checked={names.includes(each)} /><ListItemText primary={each} /></MenuItem>)}</Select></FormControl>
      <Autocomplete sx={{ width: 220 }} options={FILMS} onChange={(_, value) => tell("film", value)} renderInput={(params) => <TextField {...params} label="Movie" />} />
      <Autocomplete sx={{ width: 320 }} multiple options={FILMS} defaultValue={["Inception", "Fight Club"]} onChange={(_, value) => tell("films", value)} renderInput={(params) => <TextField {...params} label="Multiple values" placeholder="Favorites" />} />
    </Stack>
  );
}

function Controls() {
  return (
    <Stack direction="row" spacing={2}>
      <FormControlLabel control={<Checkbox onChange={(event) => tell("label", event.target.checked)} />} label="Label" />
      <FormControlLabel control={<Switch onChange={(event) => tell("wifi", event.target.checked)} />} label="Wi-Fi" />
      <FormControl><FormLabel id="gender">Gender</FormLabel><RadioGroup row aria-labelledby="gender" defaultValue="female" onChange={(event) => tell("gender", event.target.value)}><FormControlLabel value="female" control={<Radio />} label="Female" /><FormControlLabel value="male" control={<Radio />} label="Male" /></RadioGroup></FormControl>
      <Rating aria-label="Rate" name="rating" defaultValue={2} onChange={(_, value) => tell("rating", value)} />
      <Slider sx={{ width: 160 }} aria-label="Temperature" defaultValue={30} onChange={(_, value) => tell("temperature", value)} valueLabelDisplay="auto" />
      <TextField label="Multiline" multiline maxRows={4} onChange={(event) => tell("text", event.target.value)} />
      <TextField error label="Error" defaultValue="Hello World" helperText="Incorrect entry." />
      <Alignment />
    </Stack>
  );
}

function Alignment() {
  const [align, setAlign] = useState("left");
  return <ToggleButtonGroup value={align} exclusive aria-label="text alignment" onChange={(_, value) => { setAlign(value); tell("align", value); }}><ToggleButton value="left" aria-label="left aligned">L</ToggleButton><ToggleButton value="right" aria-label="right aligned">R</ToggleButton></ToggleButtonGroup>;
}

function Layers() {
  const [anchor, setAnchor] = useState(null), [open, setOpen] = useState(false), [note, setNote] = useState(false);
  return (
    <Stack direction="row" spacing={2}>
      <Button onClick={(event) => setAnchor(event.currentTarget)}>Dashboard</Button>
      <Menu anchorEl={anchor} open={Boolean(anchor)} onClose={() => setAnchor(null)}>{["Profile", "My account", "Logout"].map((each) => <MenuItem key={each} onClick={() => { setAnchor(null); tell("menu", each); }}>{each}</MenuItem>)}</Menu>
      <Button variant="outlined" onClick={() => setOpen(true)}>Open alert dialog</Button>
      <Dialog open={open} onClose={() => setOpen(false)}><DialogTitle>Use location service?</DialogTitle><DialogContent><DialogContentText>Let us help apps determine location.</DialogContentText></DialogContent><DialogActions><Button onClick={() => setOpen(false)}>Disagree</Button><Button onClick={() => { setOpen(false); tell("agreed", true); }}>Agree</Button></DialogActions></Dialog>
      <Button onClick={() => setNote(true)}>Open Snackbar</Button>
      <Snackbar open={note} message="Note archived" action={<Button onClick={() => { setNote(false); tell("undone", true); }}>UNDO</Button>} />
      <Tooltip title="Delete"><IconButton onClick={() => tell("removed", true)}>🗑</IconButton></Tooltip>
      <Badge badgeContent={4}><IconButton aria-label="mails">✉</IconButton></Badge>
      <Chip label="Deletable" onDelete={() => tell("chip", "deleted")} /><Chip label="Clickable" onClick={() => tell("chip", "clicked")} />
      <Alert severity="warning" onClose={() => tell("alert", "closed")}>This is a warning.</Alert>
      <SpeedDial ariaLabel="Dial" icon={<b>+</b>} sx={{ position: "fixed", bottom: 8, right: 8 }}>{["Copy", "Print"].map((each) => <SpeedDialAction key={each} icon={<i>{each[0]}</i>} slotProps={{ tooltip: { title: each } }} onClick={() => tell("dial", each)} />)}</SpeedDial>
    </Stack>
  );
}

function Rows() {
  const [order, setOrder] = useState("asc"), [page, setPage] = useState(0), [chosen, setChosen] = useState([]);
  const rows = [...ROWS].sort((a, b) => (order === "asc" ? a[1] - b[1] : b[1] - a[1])).slice(page * 5, page * 5 + 5);
  return (
    <><Table size="small" aria-label="desserts"><TableHead><TableRow><TableCell /><TableCell>Dessert</TableCell><TableCell sortDirection={order}><TableSortLabel active direction={order} onClick={() => { const next = order === "asc" ? "desc" : "asc"; setOrder(next); tell("order", next); }}>Calories</TableSortLabel></TableCell></TableRow></TableHead>
      <TableBody>{rows.map(([name, calories]) => <TableRow key={name} hover><TableCell padding="checkbox"><Checkbox slotProps={{ input: { "aria-labelledby": name } }} onChange={() => { const next = [...chosen, name]; setChosen(next); tell("chosen", next); }} /></TableCell><TableCell id={name}>{name}</TableCell><TableCell>{calories}</TableCell></TableRow>)}</TableBody></Table>
      <TablePagination component="div" count={ROWS.length} page={page} rowsPerPage={5} rowsPerPageOptions={[5, 10]} onPageChange={(_, next) => { setPage(next); tell("page", next); }} onRowsPerPageChange={(event) => tell("rows", event.target.value)} />
      <Pagination count={10} onChange={(_, next) => tell("pagination", next)} /></>
  );
}

function App() {
  const [tab, setTab] = useState(0), [step, setStep] = useState(0);
  return (
    <LocalizationProvider dateAdapter={AdapterDayjs}>
      <Typography variant="h4">Material UI</Typography>
      <Selects /><Controls /><Layers /><Rows />
      <Stack direction="row" spacing={2}><DatePicker label="Basic date picker" defaultValue={dayjs("2026-04-17")} onChange={(value) => tell("date", value?.format("YYYY-MM-DD"))} /><TimePicker label="Basic time picker" onChange={(value) => tell("time", value?.format("HH:mm"))} /></Stack>
      <Tabs value={tab} onChange={(_, next) => setTab(next)} aria-label="tabs"><Tab label="Item One" /><Tab label="Item Two" /></Tabs><div role="tabpanel">{tab ? <Button onClick={() => tell("tab", tab)}>Second</Button> : "First panel"}</div>
      <Accordion><AccordionSummary expandIcon="▾">Accordion Actions</AccordionSummary><AccordionDetails><TextField label="Inside" onChange={(event) => tell("inside", event.target.value)} /></AccordionDetails></Accordion>
      <SimpleTreeView onItemClick={(_, id) => tell("tree", id)} aria-label="files"><TreeItem itemId="grid" label="Data Grid"><TreeItem itemId="pro" label="@mui/x-data-grid-pro" /></TreeItem><TreeItem itemId="charts" label="Charts" /></SimpleTreeView>
      <Stepper nonLinear activeStep={step}>{["Select settings", "Create an ad group", "Create an ad"].map((each, n) => <Step key={each}><StepButton onClick={() => { setStep(n); tell("step", n); }}>{each}</StepButton></Step>)}</Stepper>
      <BottomNavigation showLabels value={0} onChange={(_, next) => tell("navigation", next)}><BottomNavigationAction label="Recents" /><BottomNavigationAction label="Favorites" /></BottomNavigation>
    </LocalizationProvider>
  );
}

createRoot(document.getElementById("root")).render(<App />);
